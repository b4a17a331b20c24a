import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp, createLogger, type AppDefinition } from '@perkway/platform';
import { checkResponses } from './document-check.js';

export interface LaunchedApp {
  app: NestFastifyApplication;
  /** The app's base URL: `http://127.0.0.1:<free port>`, unless HOST is another address. */
  url: string;
  /** Every log line so far, at level debug, as written to standard output. */
  logs: string[];
  /** Stops the app as SIGTERM would. */
  close(): Promise<void>;
}

/**
 * Starts an app as its `main.ts` does, on a free port, and collects its log lines. Responses are checked against the
 * app's OpenAPI document; `close` throws if any differ.
 */
export async function launchApp(definition: AppDefinition): Promise<LaunchedApp> {
  const logs: string[] = [];
  const logger = createLogger(definition.name, 'debug', { write: (line) => void logs.push(line) });
  const checked = checkResponses(definition);
  const app = await createApp({ logger, ...checked.definition });
  await app.listen(0, definition.env.HOST);
  const close = async () => {
    await app.close();
    if (checked.problems().length > 0) throw new Error(checked.problems().join('\n'));
  };
  return { app, url: await app.getUrl(), logs, close };
}
