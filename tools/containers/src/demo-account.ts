import type { ComposeStack } from './compose-stack.js';
import type { Account } from './load.js';

/** From examples/demo, which the profile `demo` applies. */
export const DEMO_ACCOUNT: Account = {
  id: 'ostervale-bank',
  key: 'demo-ostervale-bank-user-key-0001',
  collection: 'ostervale-travel',
  campaign: 'ostervale-spring-travel',
  pool: '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10',
  denomination: 25,
  currency: 'GBP',
};

/** Loads more cards through the management API on the second port, as an operator inside the network does. */
export async function loadCards(stack: ComposeStack, count: number, prefix = 'LOAD'): Promise<void> {
  const { pool, denomination, currency } = DEMO_ACCOUNT;
  const rows = Array.from(
    { length: count },
    (_, index) => `${prefix}-${index},,${denomination},${currency},GB`,
  );
  const response = await fetch(`http://${await stack.address('gift-cards')}:9090/admin/pools/${pool}/cards`, {
    method: 'POST',
    headers: { 'x-api-key': stack.adminKey(), 'content-type': 'text/csv' },
    body: ['code,pin,denomination,currency,country', ...rows].join('\n'),
  });
  const { imported } = (await response.json()) as { imported: number };
  if (imported !== count) throw new Error(`${imported} of ${count} cards were loaded (${response.status})`);
}
