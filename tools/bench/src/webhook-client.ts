/** The ceiling of deliveries: signs and posts the same bytes, and does nothing else. */
import { newWebhookSecret, webhookHeaders } from '@perkway/signing';
import { Agent, request } from 'node:http';

export interface Posts {
  url: string;
  bodies: string[];
  connections: number;
}

const secret = newWebhookSecret();

const post = (agent: Agent, url: string, body: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const { id } = JSON.parse(body) as { id: string };
    const headers = {
      ...webhookHeaders([secret], id, Date.now(), body),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    request(url, { method: 'POST', agent, headers })
      .on('response', (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end(body);
  });

async function run({ url, bodies, connections }: Posts): Promise<{ ms: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const waiting = [...bodies];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let body = waiting.pop(); body; body = waiting.pop()) await post(agent, url, body);
    }),
  );
  const ms = performance.now() - start;
  agent.destroy();
  return { ms };
}

process.on('message', (posts: Posts) => {
  run(posts).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.message }),
  );
});
