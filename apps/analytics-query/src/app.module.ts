import { Module } from '@nestjs/common';
import { DatabaseModule } from '@perkway/platform';

/** The modules of the roles are added according to `ANALYTICS_ROLES`. */
@Module({ imports: [DatabaseModule] })
export class AppModule {}
