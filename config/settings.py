"""Django's settings. Values that differ between machines come from `config.env`."""

from __future__ import annotations

import logging
import sys
from typing import Any

import django_stubs_ext
from csp.constants import NONE, SELF
from django.templatetags.static import static

from config import env, logs

django_stubs_ext.monkeypatch()

BASE_DIR = env.BASE_DIR
IS_TEST = "pytest" in sys.modules

SECRET_KEY = env.secret_key()
DEBUG = env.DEBUG
ALLOWED_HOSTS = env.ALLOWED_HOSTS
CSRF_TRUSTED_ORIGINS = env.CSRF_TRUSTED_ORIGINS
IS_LOCAL = env.IS_LOCAL
RELEASE = env.RELEASE
IMAGE_DIGEST = env.IMAGE_DIGEST
METRICS_TOKEN = env.METRICS_TOKEN

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "django_htmx",
    "csp",
    "django_tasks",
    "config.apps.ConfigConfig",
    "taskqueue.apps.TaskQueueConfig",
    "catalog.apps.CatalogConfig",
    "reviews.apps.ReviewsConfig",
    "boards.apps.BoardsConfig",
    "tracker.apps.TrackerConfig",
    "mailsync.apps.MailSyncConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.console.without_nul",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": env.database()}

AUTH_USER_MODEL = "tracker.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
if IS_TEST:  # a real hash costs a quarter of a second a test
    PASSWORD_HASHERS.insert(0, "django.contrib.auth.hashers.MD5PasswordHasher")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/board/"
LOGOUT_REDIRECT_URL = "/"

LANGUAGE_CODE = "en-us"
FORMAT_MODULE_PATH = "config.formats"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "static/"
STATIC_ROOT = env.VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = env.VAR_DIR / "objects"
# A checkout serves its static files where they lie; an image collects and fingerprints them.
WHITENOISE_USE_FINDERS = IS_LOCAL or IS_TEST
_static = (
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if WHITENOISE_USE_FINDERS
    else "whitenoise.storage.CompressedManifestStaticFilesStorage"
)
_objects: dict[str, Any] = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
if env.STORAGE_BUCKET:
    _objects = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": env.STORAGE_BUCKET,
            "endpoint_url": env.AWS_S3_ENDPOINT_URL,
            "addressing_style": "path",
            "signature_version": "s3v4",
            "file_overwrite": True,
        },
    }
STORAGES = {"default": _objects, "staticfiles": {"BACKEND": _static}}

# Unfold's admin needs inline styles and Alpine's evaluation; it is staff's own and stays outside the policy.
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": ("/admin/",),
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
if not IS_LOCAL and not DEBUG:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

logging.captureWarnings(True)  # a warning is a line like any other
LOGGING = {
    **logs.TO_STDERR,
    # httpx logs every request at INFO; a pull's row says it better
    "loggers": {"httpx": {"level": "WARNING"}, "httpcore": {"level": "WARNING"}},
}

UNFOLD = {
    "SITE_TITLE": "Rolecall",
    "SITE_HEADER": "Rolecall console",
    "SITE_SUBHEADER": RELEASE,
    "SITE_URL": "/",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"/{STATIC_URL}favicon.svg"}],
    "STYLES": [lambda request: static("console.css")],
    "SIDEBAR": {"navigation": "config.sidebar.navigation"},
    "COLORS": {
        "primary": {  # the pages' own accent
            "50": "240 249 250",
            "100": "217 239 242",
            "200": "181 222 229",
            "300": "128 196 209",
            "400": "69 162 181",
            "500": "32 131 153",
            "600": "11 97 119",
            "700": "12 80 99",
            "800": "15 66 81",
            "900": "17 56 69",
            "950": "7 36 46",
        },
    },
}

# Queue: the lease is six heartbeats long, so that one slow beat loses nothing.
QUEUE_LEASE_SECONDS = 60
QUEUE_HEARTBEAT_SECONDS = 10
QUEUE_POLL_SECONDS = 1
QUEUE_RETENTION_DAYS = 14
QUEUE_ACCOUNT_TURNS = env.QUEUE_ACCOUNT_TURNS  # tasks of one account that run at once
QUEUE_HOST_TURNS = 4  # tasks without an account that ask one host at once; its pace is another matter
QUEUE_NOTIFICATIONS = env.QUEUE_NOTIFICATIONS  # off behind a transaction-pooling PgBouncer: workers poll
QUEUE_PAYLOAD_MAX_BYTES = 1_000_000
QUEUE_WORKER_MAX_BYTES = env.QUEUE_WORKER_MAX_MB * 1_000_000  # a worker that holds more leaves between tasks

# Django's Tasks API: other apps' @task functions run on this fleet
TASKS = {"default": {"BACKEND": "taskqueue.django_tasks.QueueBackend"}}

# Fetching
FETCH_ALLOW_PRIVATE_HOSTS = env.FETCH_ALLOW_PRIVATE_HOSTS
FETCH_BASE_URL_OVERRIDES = env.base_url_overrides()
FETCH_EGRESS = env.FETCH_EGRESS
SOURCE_KEYS = env.SOURCE_KEYS
CATALOG_RETENTION_DAYS = env.CATALOG_RETENTION_DAYS
FETCH_CONTACT = env.FETCH_CONTACT
FETCH_MAX_BYTES = 50 * 1024 * 1024  # a large board with descriptions is 20 MB; a page stays far below
FETCH_TIMEOUT_SECONDS = 60

# Reviews
REVIEW_PROVIDER = env.REVIEW_PROVIDER
REVIEW_MODEL = env.REVIEW_MODEL
OPENAI_API_KEY = env.OPENAI_API_KEY
OPENAI_BASE_URL = env.OPENAI_BASE_URL
