import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import { keyedHasher, open, seal, type Keyring } from '@perkway/signing';
import type { GiftCardsEnv } from '../env.js';

/** The part of a card that the recipient sees. */
export interface Card {
  code: string;
  pin?: string;
}

const PURPOSE = 'gift-card';

/** Encrypts, decrypts and hashes card codes. Rows store them encrypted, plus a keyed hash to look a code up. */
@Injectable()
export class CardVault {
  private readonly keyring: Keyring;
  private readonly keyedHash: (text: string) => string;

  constructor(@Inject(ENV) env: GiftCardsEnv) {
    this.keyring = env.CARD_ENCRYPTION_KEYS;
    this.keyedHash = keyedHasher(env.CARD_HASH_KEY);
  }

  /** @param id of the card's row; the ciphertext cannot be decrypted under another id */
  seal({ code, pin }: Card, id: number): Buffer {
    return seal(this.keyring, PURPOSE, JSON.stringify(pin === undefined ? [code] : [code, pin]), String(id));
  }

  open(sealed: Buffer, id: string): Card {
    const [code, pin] = JSON.parse(open(this.keyring, PURPOSE, sealed, id)) as [string, string?];
    return pin === undefined ? { code } : { code, pin };
  }

  /** Returns 128 bits of a keyed hash as 32 hex digits. Postgres stores them as a UUID, at half the size of text. */
  hash(code: string): string {
    return this.keyedHash(code).slice(0, 32);
  }
}
