import { keyedHasher, open, seal, type Keyring } from '@perkway/signing';

/** What a recipient gets to see. */
export interface Card {
  code: string;
  pin?: string;
}

const PURPOSE = 'gift-card';

/** The only place that knows card codes in clear. Rows hold them sealed, and a keyed hash to find a code again. */
export class CardVault {
  private readonly keyedHash: (text: string) => string;

  constructor(
    private readonly keyring: Keyring,
    hashKey: string,
  ) {
    this.keyedHash = keyedHasher(hashKey);
  }

  /** @param id of the card's row: what is sealed for one card does not open in another */
  seal({ code, pin }: Card, id: number): Buffer {
    return seal(this.keyring, PURPOSE, JSON.stringify(pin === undefined ? [code] : [code, pin]), String(id));
  }

  open(sealed: Buffer, id: string): Card {
    const [code, pin] = JSON.parse(open(this.keyring, PURPOSE, sealed, id)) as [string, string?];
    return pin === undefined ? { code } : { code, pin };
  }

  /** 128 bits of a keyed hash, as 32 hex digits: what Postgres keeps as a UUID, half the size of text. */
  hash(code: string): string {
    return this.keyedHash(code).slice(0, 32);
  }
}
