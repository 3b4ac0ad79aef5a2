import django.contrib.postgres.operations
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False  # the index is built while the queue goes on

    dependencies = [
        ('queue', '0003_samples'),
    ]

    operations = [
        django.contrib.postgres.operations.AddIndexConcurrently(
            model_name='task',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['finished_at'], name='queue_failed'),
        ),
    ]
