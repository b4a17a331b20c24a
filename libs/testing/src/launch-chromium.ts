import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** Debian's builds of Chromium. The headless shell needs a fifth of the processor time to open a page. */
const BUILDS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Starts Debian's Chromium, or the one that CHROMIUM names. */
export async function launchChromium(options: string[] = []): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? BUILDS.find(existsSync);
  if (!executablePath || !existsSync(executablePath))
    throw new Error('No Chromium. Install it (apt-get install chromium-headless-shell) or set CHROMIUM.');
  // Imported here because few tests need it.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath,
    headless: true,
    // Without a locale, the headless shell has the language `en-US@posix`, which `Intl` rejects.
    env: { ...process.env, LC_ALL: 'en_US.UTF-8' },
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
