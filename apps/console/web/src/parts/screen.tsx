import { useEffect, type ReactNode } from 'react';
import { Link } from 'react-router';
import { TIMEZONE } from '../dates';
import { texts } from '../texts';
import { Icon } from './icon';

interface Props {
  title: string;
  intro?: ReactNode;
  actions?: ReactNode;
  back?: { to: string; label: string };
  /** The time zone of the screen's days and times; null if it has none. */
  zone?: string | null;
  children: ReactNode;
}

export function Screen({ title, intro, actions, back, zone = TIMEZONE, children }: Props) {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <div className="screen">
      {back && (
        <Link className="back" to={back.to}>
          <Icon name="back" /> {back.label}
        </Link>
      )}
      <div className="screen-head">
        <div>
          <h1>{title}</h1>
          {intro && <p className="intro">{intro}</p>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
      {zone !== null && <p className="hint zone">{texts.zone(zone)}</p>}
    </div>
  );
}

interface CardProps {
  id?: string;
  title?: string;
  note?: ReactNode;
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

export const Card = ({ id, title, note, actions, className = '', children }: CardProps) => (
  <section id={id} className={`card ${className}`}>
    {(title || actions) && (
      <div className="card-head">
        {title && <h2>{title}</h2>}
        {actions && <div className="actions">{actions}</div>}
      </div>
    )}
    {children}
    {note && <p className="hint card-note">{note}</p>}
  </section>
);
