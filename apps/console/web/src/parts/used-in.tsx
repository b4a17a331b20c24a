import { LIMITS, type Kind, type Query } from '../api/managed';
import type { Limit } from '../api/types';
import { Facts } from './facts';
import { ResourceLinks } from './resource-links';

/** Maximum number of resources shown of each kind. */
const SHOWN = 20;

/** Links to the resources that use the edited one, by kind. */
export const UsedIn = ({ kinds, query, note }: { kinds: Kind[]; query: Query; note: string }) => (
  <div className="stack">
    <Facts
      of={kinds.map((kind) => [
        kind.label,
        <ResourceLinks key={kind.name} kind={kind} query={{ ...query, limit: SHOWN }} />,
      ])}
    />
    <p className="hint">{note}</p>
  </div>
);

interface LimitsProps {
  owner: string;
  isOf: (only: NonNullable<Limit['only']>) => boolean;
}

/** Links to the limits of one pool or campaign. One page has them all: an account has at most 100 limits. */
export const LimitsOf = ({ owner, isOf }: LimitsProps) => (
  <Facts
    of={[
      [
        LIMITS.label,
        <ResourceLinks
          key={LIMITS.name}
          kind={LIMITS}
          query={{ owner, limit: 200 }}
          filter={({ only }) => only != null && isOf(only)}
        />,
      ],
    ]}
  />
);
