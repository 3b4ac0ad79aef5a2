# One image for web, worker and release. The embedded PostgreSQL is not in it: DATABASE_URL names the database.
FROM python:3.11-slim AS packages
WORKDIR /app
COPY bin bin
COPY requirements requirements
RUN bin/bootstrap base && .venv/bin/python -m pip uninstall --quiet --yes uv

FROM python:3.11-slim
RUN useradd --system --no-create-home --shell /usr/sbin/nologin rolecall
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PORT=8000
COPY --from=packages /app/.venv .venv
COPY . .
# Collecting static files opens no connection and signs nothing; the settings only ask that both be set.
RUN DATABASE_URL=postgres://unused SECRET_KEY=unused python manage.py collectstatic --noinput \
    && install -d -o rolecall -g rolecall var var/objects
ARG RELEASE=dev
ENV RELEASE=$RELEASE
USER rolecall
EXPOSE 8000
CMD ["gunicorn", "-c", "config/gunicorn.py", "config.asgi"]
