import { Module } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';

/** Without the modules of the roles, which `ANALYTICS_ROLES` chooses. */
@Module({ imports: [DatabaseModule] })
export class AppModule {}
