import type { Pool } from '../api/types';
import { texts } from '../texts';

/** Says what recipients do not learn about their card, if the pool has no product or the product no shop. */
export function NoProduct({ product }: { product: Pool['product'] }) {
  if (product?.redeem_url || product?.instructions) return null;
  return (
    <p className="callout">
      <span>{product ? texts.pools.noShop : texts.pools.noProduct}</span>
    </p>
  );
}
