import { Link, type LinkProps } from 'react-router';
import type { AuditQuery } from '../api/types';

interface Props extends Omit<LinkProps, 'to'> {
  kind: NonNullable<AuditQuery['kind']>;
  object: string;
}

/** Leads to the entries of one object in the audit log. */
export const AuditLogLink = ({ kind, object, ...link }: Props) => (
  <Link {...link} to={`/audit-log?kind=${kind}&object=${encodeURIComponent(object)}`} />
);
