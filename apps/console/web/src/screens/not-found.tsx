import { Link } from 'react-router';
import { Screen } from '../parts/screen';
import { texts } from '../texts';

export default function NotFound() {
  return (
    <Screen title={texts.notFound.title} intro={texts.notFound.text} zone={null}>
      <p>
        <Link to="/">{texts.notFound.home}</Link>
      </p>
    </Screen>
  );
}
