from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("queue", "0005_status_is_known_by_its_end"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="task",
            name="queue_task_key_once",
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("dedupe_key__isnull", False),
                    models.Q(("finished_at__isnull", True), ("key_until__isnull", False), _connector="OR"),
                ),
                fields=("dedupe_key",),
                name="queue_task_key_once",
            ),
        ),
    ]
