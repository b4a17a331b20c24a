import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'perkway:public';

/** Opens a handler or controller to callers without an API key. All other routes are denied by default. */
export const Public = () => SetMetadata(IS_PUBLIC, true);
