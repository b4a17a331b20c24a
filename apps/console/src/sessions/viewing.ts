import { SetMetadata } from '@nestjs/common';
import { ApiError } from '@perkway/domain';
import type { Session } from './session.js';

export const WHILE_VIEWING = 'perkway:while-viewing';

/** Lets a handler of a method other than GET run while an operator views an account, which it must not change. */
export const WhileViewing = () => SetMetadata(WHILE_VIEWING, true);

/** Rejects changes, and reads of secrets, while an operator views the account. @throws VIEW_READ_ONLY */
export function refuseWhileViewing({ viewedBy }: Session): void {
  if (viewedBy !== null) throw new ApiError('VIEW_READ_ONLY');
}
