import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** Starts Debian's Chromium, or the one that CHROMIUM names. */
export async function launchChromium(options: string[] = []): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(
      `No Chromium at ${executablePath}. Install it (apt-get install chromium) or set CHROMIUM.`,
    );
  // Imported here because few tests need it.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...options,
    ],
  });
}
