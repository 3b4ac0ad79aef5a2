"""Django's PostgreSQL backend, with two habits of its own.

On a checkout without DATABASE_URL it starts the embedded server when that is not there. And a restart of
the server costs one wait: the pool by itself tries its broken connections one after the other, each after
twice the wait of the last, and a process that had a handful of them answers with errors meanwhile.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base, client
from psycopg_pool import PoolTimeout

from config import embedded, env


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell` with the server's own psql: the machine may have none."""

    connection: DatabaseWrapper

    def runshell(self, parameters: Any) -> None:
        self.connection.start_server()
        super().runshell(parameters)

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Any
    ) -> tuple[list[str], dict[str, str] | None]:
        arguments, environment = super().settings_to_cmd_args_env(settings_dict, parameters)
        if env.IS_LOCAL:
            arguments = [embedded.psql()[0], *arguments[1:]]
        return arguments, environment


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient
    server = embedded.Embedded()

    def __init__(self, settings_dict: dict[str, Any], *arguments: Any, **options: Any) -> None:
        if env.IS_LOCAL:
            # The port is a part of the socket's name, and libpq would take it from PGPORT.
            settings_dict["PORT"] = settings_dict["PORT"] or str(embedded.PORT)
        super().__init__(settings_dict, *arguments, **options)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.start_server()  # first: the pool would try in vain until its timeout
        try:
            return super().get_new_connection(conn_params)
        except PoolTimeout:
            self.pool.drain()  # what is left in it broke with the server: new ones, all at once
            return super().get_new_connection(conn_params)

    def forget_settings(self) -> None:
        """The session's settings are as at its start, whatever was SET since. No-op without a session."""
        if self.connection is not None:
            with self.cursor() as cursor:
                cursor.execute("RESET ALL")
            self._configure_connection(self.connection)  # type: ignore[attr-defined]

    def start_server(self) -> None:
        """The embedded server runs. One that cannot start is, like one that is away, an OperationalError."""
        if not env.IS_LOCAL or self.server.looks_alive():
            return
        try:
            self.server.start()
        except embedded.EmbeddedFailed as failed:
            raise self.Database.OperationalError(str(failed)) from failed
