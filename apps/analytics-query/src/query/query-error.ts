import { DomainError } from '@perkway/domain';

/** 400 with the text that a Cube client expects for this mistake. */
export const queryError = (message: string): DomainError => new DomainError('VALIDATION_FAILED', message);
