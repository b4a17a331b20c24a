import type { ReactNode } from 'react';

/** Lists names with their values. Skips names without a value. */
export const Facts = ({ of }: { of: (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {of.map(
      ([name, value]) =>
        value && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);
