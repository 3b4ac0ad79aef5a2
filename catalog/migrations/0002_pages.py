import django.db.models.deletion
from django.db import migrations, models


def keep_pages(apps, schema_editor):
    """What was kept of earlier pulls is their first page."""
    schema_editor.execute("""
        INSERT INTO catalog_pullpage (pull_id, number, url, status, size, raw_key)
        SELECT pull.id, 1, source.url, 200, coalesce(pull.size, 0), pull.raw_key
          FROM catalog_pull AS pull JOIN catalog_source AS source ON source.id = pull.source_id
         WHERE pull.raw_key <> ''
    """)


class Migration(migrations.Migration):

    dependencies = [
        ("catalog", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="PullPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("url", models.URLField(max_length=2048)),
                ("status", models.PositiveSmallIntegerField()),
                ("rows", models.PositiveIntegerField(blank=True, help_text="None: it could not be read.", null=True)),
                ("size", models.PositiveBigIntegerField(help_text="Bytes, decoded.")),
                ("raw_key", models.CharField(help_text="The response, as kept.", max_length=200)),
                ("pull", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="pages", to="catalog.pull")),
            ],
            options={"ordering": ["number"]},
        ),
        migrations.AddConstraint(
            model_name="pullpage",
            constraint=models.UniqueConstraint(fields=("pull", "number"), name="catalog_pullpage_once"),
        ),
        migrations.RunPython(keep_pages, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name="pull",
            name="raw_key",
        ),
        migrations.AlterField(
            model_name="pull",
            name="size",
            field=models.PositiveBigIntegerField(blank=True, help_text="Bytes of all pages, decoded.", null=True),
        ),
    ]
