import type { Erasure } from '@perkway/domain';
import { randomUUID } from 'node:crypto';

/** The first round of an erasure; by default of the customer `ann`. */
export const anErasure = (given: Pick<Erasure, 'account'> & Partial<Erasure>): Erasure => ({
  id: randomUUID(),
  round: 1,
  kind: 'customer_id',
  value: 'ann',
  standIn: 'erased-x',
  secret: 'aa',
  ...given,
});
