import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'perkway:public';

/** The only opening in the deny-by-default guard: the handler (or controller) needs no API key. */
export const Public = () => SetMetadata(IS_PUBLIC, true);
