// The overview: what needs a person, the worst first; then the state of the tenant in one screen.

import type { Overview } from '@holdfast/contract'
import { explainFailure } from '../../api/failure.ts'
import { useOverview } from '../../api/use-overview.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { AttentionList } from './attention-list.tsx'
import { LatestEvents } from './latest-events.tsx'
import styles from './overview-page.module.css'
import { Quotas } from './quotas.tsx'
import { StatePanel } from './state-panel.tsx'

export function OverviewPage() {
  const { data, error, refetch } = useOverview()
  return (
    <div className={styles.page}>
      <PageHead
        title={texts.pages.overview}
        aside={data === undefined ? null : <Verdict overview={data} />}
      />
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined ? error === null ? <Loading lines={6} /> : null : <Content overview={data} />}
      <CliFoot same={equivalents.overview()} />
    </div>
  )
}

/** The answer to the first question of every visit: is everything all right? */
function Verdict({ overview: { attention, attentionOmitted } }: { readonly overview: Overview }) {
  const count = attention.filter(({ severity }) => severity !== 'info').length + attentionOmitted
  return count === 0 ? (
    <span className={styles.well}>
      <Icon name="check" /> {texts.overview.well}
    </span>
  ) : (
    <span className={styles.needs}>
      <Icon name="triangle" /> {texts.overview.needYou(count)}
    </span>
  )
}

function Content({ overview }: { readonly overview: Overview }) {
  const { attention, attentionOmitted, deployments, nodes } = overview
  return (
    <>
      {nodes.total === 0 ? (
        <FirstSteps
          title={texts.overview.noNodesTitle}
          next={texts.overview.noNodesNext}
          commands={texts.overview.nodeCommands}
        />
      ) : null}
      {deployments.total === 0 ? (
        <FirstSteps
          title={texts.overview.emptyTitle}
          next={texts.overview.emptyNext}
          commands={texts.overview.firstCommands}
        />
      ) : null}
      <Panel title={texts.overview.needing}>
        {attention.length === 0 ? <p className={styles.quiet}>{texts.overview.wellNext}</p> : null}
        <AttentionList items={attention} />
        {attentionOmitted > 0 ? (
          <p className={styles.quiet}>{texts.overview.more(attentionOmitted)}</p>
        ) : null}
      </Panel>
      <StatePanel overview={overview} />
      <div className={styles.columns}>
        <LatestEvents />
        <Quotas quotas={overview.quotas} />
      </div>
    </>
  )
}

interface FirstStepsProps {
  readonly title: string
  readonly next: string
  readonly commands: readonly string[]
}

/** A person who starts with an empty tenant learns how to begin. */
function FirstSteps({ title, next, commands }: FirstStepsProps) {
  return (
    <Notice severity="info" title={title}>
      <p>{next}</p>
      {commands.map((command) => (
        <code key={command}>{command}</code>
      ))}
    </Notice>
  )
}
