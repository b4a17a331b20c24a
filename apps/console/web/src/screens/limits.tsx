import { ruleOf, useLimits } from '../api/limits';
import { useSession } from '../api/session';
import { Empty, Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { texts } from '../texts';
import { LimitUsage } from './limit-usage';

const t = texts.limits;

export default function Limits() {
  const limits = useLimits();
  const isOperator = useSession().role === 'ADMIN';
  return (
    <Screen title={texts.nav.limits} intro={isOperator ? t.introForOperators : t.intro}>
      <Loaded
        query={limits}
        isEmpty={(list) => list.length === 0}
        empty={
          <Empty title={t.emptyTitle}>
            <p>{t.emptyText}</p>
          </Empty>
        }
      >
        {(list) =>
          list.map((limit) => (
            <Card key={limit.id} title={limit.id} note={t.only(limit.only?.pool_id, limit.only?.campaign_id)}>
              <div className="stack">
                <p>{ruleOf(limit)}</p>
                <LimitUsage limit={limit} isOwn />
              </div>
            </Card>
          ))
        }
      </Loaded>
    </Screen>
  );
}
