import { register } from 'tsx/esm/api';

/** Jest loads this file without a transform, so TypeScript needs a loader here. */
export default async function globalSetup() {
  const unregister = register();
  try {
    const { default: setUp } = await import('./set-up.ts');
    await setUp();
  } finally {
    await unregister();
  }
}
