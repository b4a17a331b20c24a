import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { verifyWebhook, type WebhookEvent } from '@perkway/client';

const POLL_MS = 50;

/** The server of a client, which its webhook leads to. It keeps no process running. */
export class Receiver {
  secret = '';
  private readonly received: WebhookEvent[] = [];
  private readonly server = createServer(async (request, response) => {
    const body = await buffer(request);
    response.setHeader('connection', 'close');
    try {
      this.received.push(verifyWebhook(body, request.headers, this.secret));
      response.writeHead(204).end();
    } catch {
      response.writeHead(400).end();
    }
  }).unref();

  /** Returns its URL. */
  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Returns the event of a subject; undefined if none comes within the limit. */
  async heard(subject: string, limitMs: number): Promise<WebhookEvent | undefined> {
    const end = Date.now() + limitMs;
    for (;;) {
      const event = this.received.find((one) => one.subject === subject);
      if (event || Date.now() > end) return event;
      await sleep(POLL_MS);
    }
  }
}
