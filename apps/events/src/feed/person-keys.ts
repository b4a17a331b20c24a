import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import { createHmac, hkdfSync } from 'node:crypto';
import type { EventsEnv } from '../env.js';

/** Makes keyed hashes of values that may identify a person, so that nobody can guess the values from the tables. */
@Injectable()
export class PersonKeys {
  private readonly key: Buffer;

  constructor(@Inject(ENV) { API_KEY_PEPPER }: EventsEnv) {
    this.key = Buffer.from(hkdfSync('sha256', API_KEY_PEPPER, '', 'perkway/feed-persons/v1', 32));
  }

  journey = (account: string, journey: string): string => this.hash('journey', account, journey);

  /** External ids of JOURNEY keys have a separate namespace, as in analytics. */
  externalId = (account: string, externalId: string, isPublic: boolean): string =>
    this.hash(isPublic ? 'public-order' : 'order', account, externalId);

  private hash(...parts: string[]): string {
    return createHmac('sha256', this.key).update(parts.join('\0')).digest('base64url');
  }
}
