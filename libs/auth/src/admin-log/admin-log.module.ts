import type { DynamicModule } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { AdminLogRelay } from './admin-log-relay.js';
import { ADMIN_LOG_HOST, AdminLogInterceptor } from './admin-log.interceptor.js';

/** Logs the management calls of an app (docs/adr/0047-admin-log.md), whose migrations need `CreateAdminLogOutbox`. */
export class AdminLogModule {
  /** @param host its name in the log */
  static forHost(host: string): DynamicModule {
    return {
      module: AdminLogModule,
      providers: [
        { provide: ADMIN_LOG_HOST, useValue: host },
        { provide: APP_INTERCEPTOR, useClass: AdminLogInterceptor },
        AdminLogRelay,
      ],
    };
  }
}
