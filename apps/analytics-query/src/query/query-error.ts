import { ApiError } from '@perkway/domain';

/** Returns a 400 with the error message that Cube clients expect. */
export const queryError = (message: string): ApiError => new ApiError('VALIDATION_FAILED', message);
