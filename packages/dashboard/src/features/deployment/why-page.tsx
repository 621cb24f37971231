// Why a deployment is in its phase: the summary, the remedies, every node with every reason, and the same for the past.

import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useCordon } from '../../api/use-cordon.ts'
import { useStatus } from '../../api/use-deployments.ts'
import { useDecisions, useWhy, type WhyFilter } from '../../api/use-why.ts'
import { useStale } from '../../live/live-provider.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { DecisionList } from '../../parts/time/decision-list.tsx'
import { decisionAt } from '../../parts/time/stops.ts'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { Explanation } from './explanation.tsx'
import styles from './why-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/why')

/** Another deployment has another page: nothing of the one before may stay. */
export function WhyPage() {
  const { name } = route.useParams()
  return <WhyOf key={name} name={name} />
}

function WhyOf({ name }: { readonly name: string }) {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { why, error, hasMore, isOld, readMore } = useWhy(name, filter)
  const { data: decisions = [] } = useDecisions(name)
  const { data: status } = useStatus(name)
  const cordon = useCordon(useStale())
  const choose = (next: WhyFilter): void => void navigate({ search: { ...filter, ...next } })
  return (
    <div className={styles.page} {...(isOld ? { 'data-stale': true, 'aria-busy': true } : {})}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {why === undefined && error === null ? <Loading lines={6} /> : null}
      {why === undefined ? null : (
        <Explanation why={why} past={filter.at !== undefined} shown={status?.message} cordon={cordon} />
      )}
      {why === undefined || !(hasMore || filter.view === 'groups') ? null : (
        <More groups={filter.view === 'groups'} onMore={readMore} onView={(view) => choose({ view })} />
      )}
      {decisions.length === 0 ? null : (
        <DecisionList
          decisions={decisions}
          chosen={filter.at === undefined ? undefined : decisionAt(decisions, filter.at)}
          onChoose={(at) => choose({ at })}
        />
      )}
      <CliFoot same={equivalents.why(name, filter.at)} />
    </div>
  )
}

interface MoreProps {
  readonly groups: boolean
  onMore(): void
  onView(view: 'groups' | undefined): void
}

/** With many nodes, groups of equal reasons are easier to read than pages of nodes. */
function More({ groups, onMore, onView }: MoreProps) {
  return (
    <div className={styles.more}>
      {groups ? null : (
        <Button variant="default" size="compact-sm" onClick={onMore}>
          {texts.why.more}
        </Button>
      )}
      <Button variant="default" size="compact-sm" onClick={() => onView(groups ? undefined : 'groups')}>
        {groups ? texts.why.byNode : texts.why.byGroup}
      </Button>
    </div>
  )
}
