import { Inject, Injectable } from '@nestjs/common';
import { hashApiKey } from '@perkway/auth';
import {
  CLOSE_CONSOLE_KEYS,
  OPEN_CONSOLE_KEY,
  type ConsoleKeyHolder,
  type ConsoleKeyReply,
} from '@perkway/domain';
import { ENV, LOGGER, RpcClient } from '@perkway/platform';
import { keyedHash } from '@perkway/signing';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { ConsoleEnv } from '../env.js';

/** Where a key follows from, with the keyring: no store holds the key, and none can show it. */
export interface KeySource {
  purpose: 'session' | 'job';
  /** Of a session its id, which only the browser has. */
  secret: string;
  keyringId: string;
}

/** The keys with which the console calls the fleet for somebody (docs/adr/0025-console-sessions.md). */
@Injectable()
export class ConsoleKeys {
  constructor(
    @Inject(ENV) private readonly env: ConsoleEnv,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly rpc: RpcClient,
  ) {}

  /** Which of the ring's keys is in use now. */
  get keyringId(): string {
    return this.env.SESSION_KEYS.current;
  }

  /** Undefined when the ring has no such key any more. */
  keyOf({ purpose, secret, keyringId }: KeySource): string | undefined {
    const subkey = this.env.SESSION_KEYS.subkey(`console-${purpose}`, keyringId);
    return subkey && `ck_${keyedHash(subkey, secret)}`;
  }

  /** Makes the key valid. @returns its id, and for whom it is, or that they have no right to it */
  async open(
    source: KeySource,
    holder: ConsoleKeyHolder,
    expiresAt: Date,
  ): Promise<{ id: string; reply: ConsoleKeyReply }> {
    const id = randomUUID();
    const hash = hashApiKey(this.env.API_KEY_PEPPER, this.keyOf(source)!);
    const reply = await this.rpc.ask(OPEN_CONSOLE_KEY, {
      id,
      hash,
      expiresAt: expiresAt.getTime(),
      for: holder,
    });
    return { id, reply };
  }

  /** Best effort: a key that is not closed ends when it expires. */
  async close(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.rpc.ask(CLOSE_CONSOLE_KEYS, { ids }).catch((err: unknown) => {
      this.logger.warn({ err, keys: ids.length }, 'keys of the console were not closed, they expire');
    });
  }
}
