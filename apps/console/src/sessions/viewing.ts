import { SetMetadata } from '@nestjs/common';
import { ApiError } from '@perkway/domain';
import type { Session } from './session.js';

export const WHILE_VIEWING = 'perkway:while-viewing';

/** Lets a handler that is no read run while an operator views an account: it must change nothing of that account. */
export const WhileViewing = () => SetMetadata(WHILE_VIEWING, true);

/** For reads with the secrets of an account, too. @throws VIEW_READ_ONLY */
export function refuseWhileViewing({ viewedBy }: Session): void {
  if (viewedBy !== null) throw new ApiError('VIEW_READ_ONLY');
}
