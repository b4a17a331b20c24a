import { useNavigate } from 'react-router';
import { useSigning } from '../api/session';
import { texts } from '../texts';
import { useNotices } from './notices';

interface Props {
  id: string;
  /** Distinguishes several buttons for screen readers. */
  name?: string;
  /** The path of the screen to begin with. */
  to?: string;
  action?: string;
}

/** Returns a function that shows an operator a screen of an account's console. */
export function useViewAsClient() {
  const { view } = useSigning();
  const { attempt } = useNotices();
  const navigate = useNavigate();
  return (id: string, to: string) => attempt(view(id).then(() => navigate(to)));
}

/** Shows the console of an account to an operator. */
export function ViewAsClient({ id, name, to = '/', action = texts.viewing.as }: Props) {
  const open = useViewAsClient();
  return (
    <button
      type="button"
      className={name ? 'button small' : 'button'}
      aria-label={name && `${action}: ${name}`}
      onClick={() => void open(id, to)}
    >
      {action}
    </button>
  );
}
