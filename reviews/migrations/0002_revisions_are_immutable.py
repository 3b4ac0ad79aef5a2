from __future__ import annotations

from django.db import migrations

# R1: what an answer was given under stays what it was, whatever code, console or person writes.
FORWARDS = """
    CREATE FUNCTION reviews_refuse_edit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'filter revision % is immutable: add a revision instead', OLD.id
              USING ERRCODE = 'integrity_constraint_violation';
    END $$;
    CREATE TRIGGER reviews_filterrevision_immutable BEFORE UPDATE ON reviews_filterrevision
       FOR EACH ROW EXECUTE FUNCTION reviews_refuse_edit();
"""
BACKWARDS = """
    DROP TRIGGER reviews_filterrevision_immutable ON reviews_filterrevision;
    DROP FUNCTION reviews_refuse_edit();
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_initial")]

    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
