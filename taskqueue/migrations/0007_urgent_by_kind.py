from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("queue", "0006_keys_of_what_ended"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="task",
            name="queue_task_urgent",
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(("position__isnull", False), ("priority__lte", 10)),
                fields=["kind", "position", "id"],
                name="queue_task_urgent",
            ),
        ),
    ]
