from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('queue', '0002_line'),
    ]

    operations = [
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('at', models.DateTimeField(help_text="The minute's beginning.", primary_key=True, serialize=False)),
                ('depth', models.IntegerField(help_text='Tasks in line.', null=True)),
                ('oldest_seconds', models.FloatField(help_text='For how long the oldest of them has been due.', null=True)),
                ('running', models.IntegerField(null=True)),
                ('not_due', models.IntegerField(help_text='Pending, to start later.', null=True)),
                ('awaiting_batch', models.IntegerField(help_text='Not to be looked at yet.', null=True)),
                ('waiting', models.IntegerField(help_text='For children.', null=True)),
                ('failed', models.IntegerField(help_text='In the minute before it was taken.', null=True)),
                ('workers', models.IntegerField(help_text='Alive.', null=True)),
                ('reaped', models.IntegerField(db_default=0, help_text='Attempts lost with their worker, to be tried again.')),
                ('lost', models.IntegerField(db_default=0, help_text='Those that were the last: the task failed.')),
            ],
        ),
    ]
