import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Serves `/assets/*`: files with a content hash in their names, and the copies compressed at build time. */
export async function serveAssets(app: NestFastifyApplication, folder: string): Promise<void> {
  const root = join(folder, 'assets');
  if (!existsSync(root)) return;
  await app.register(fastifyStatic as never, {
    root,
    prefix: '/assets/',
    preCompressed: true,
    index: false,
    immutable: true,
    maxAge: '1y',
    decorateReply: false,
  });
}
