import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { verifyWebhook, type WebhookEvent } from '@perkway/client';

const POLL_MS = 50;

/** A client's server that receives webhook deliveries. It does not keep the process alive. */
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

  /** Listens on a free port and returns the URL. */
  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** Returns the event of a subject, or undefined if none arrives in time. */
  async waitForEvent(subject: string, timeoutMs: number): Promise<WebhookEvent | undefined> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const event = this.received.find((one) => one.subject === subject);
      if (event || Date.now() > end) return event;
      await sleep(POLL_MS);
    }
  }
}
