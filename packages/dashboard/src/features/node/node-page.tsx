// One node: its state, what is on it, its usage, and what may be done with it.

import { engineWarnings, type Node } from '@holdfast/contract'
import { getRouteApi, Link } from '@tanstack/react-router'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useNodeAudit } from '../../api/nodes/use-node-audit.ts'
import { useSession } from '../../api/session.tsx'
import { type Cordon, useCordon } from '../../api/use-cordon.ts'
import { useNode } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActOutcome } from '../../parts/act-outcome.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { tokenText } from '../../texts/author.ts'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { closedBy } from './closed-by.ts'
import { DrainPanel } from './drain-panel.tsx'
import { NodeFacts } from './node-facts.tsx'
import styles from './node-page.module.css'
import { NodeReplicas } from './node-replicas.tsx'
import { NodeUsage } from './node-usage.tsx'
import { NodeVolumes } from './node-volumes.tsx'
import { RemovePanel } from './remove-panel.tsx'

const route = getRouteApi('/t/$tenant/nodes/$node')

/** Another node has another page: nothing of the one before may stay. */
export function NodePage() {
  const { node } = route.useParams()
  return <NodeOf key={node} id={node} />
}

function NodeOf({ id }: { readonly id: string }) {
  const { data: node, error, refetch } = useNode(id)
  const cordon = useCordon(useStale())
  if (error !== null && isNotFound(error)) return <Unknown />
  return (
    <div className={styles.page}>
      <PageHead
        title={node?.name ?? texts.pages.nodes}
        aside={node === undefined ? null : <State node={node} />}
        actions={node === undefined ? null : <CordonButton node={node} cordon={cordon} />}
      />
      <ActOutcome outcome={cordon.outcome} />
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      {node === undefined && error === null ? <Loading lines={6} /> : null}
      {node === undefined ? null : <Content node={node} cordon={cordon} />}
      {node === undefined ? null : <CliFoot same={equivalents.node(node.name, node.id)} />}
    </div>
  )
}

function State({ node }: { readonly node: Node }) {
  const { status, reason, since, schedulable, draining } = node
  return (
    <span className={styles.state}>
      <PhaseBadge word={status} {...(reason === undefined ? {} : { reason })} />
      {since === undefined ? null : <Moment iso={since} age />}
      {schedulable && draining !== true ? null : <Closed node={node} />}
    </span>
  )
}

/** That the node accepts no new replicas, and who decided it. */
function Closed({ node: { name, draining } }: { readonly node: Node }) {
  const { data: entries = [] } = useNodeAudit(name)
  const by = closedBy(entries)
  return (
    <span>
      {draining === true ? texts.nodes.draining : texts.nodes.cordoned}
      {by === undefined ? null : (
        <>
          {' '}
          {texts.nodes.closedBy(tokenText(by.actor.name, by.actor.token))} <Moment iso={by.time} />
        </>
      )}
    </span>
  )
}

function CordonButton({ node, cordon }: { readonly node: Node; readonly cordon: Cordon }) {
  const verb = node.schedulable ? 'cordon' : 'uncordon'
  return (
    <ActButton
      label={texts.cordon[verb](node.name)}
      closed={cordon.closed}
      running={cordon.outcome.kind === 'running'}
      onAct={() => cordon.run(verb, node)}
    />
  )
}

function Content({ node, cordon }: { readonly node: Node; readonly cordon: Cordon }) {
  return (
    <>
      {engineWarnings(node.engine.version).map(({ code, why }) => (
        <Notice key={code} severity="warning" title={why} />
      ))}
      {(node.drainBlockedBy ?? []).map((sentence) => (
        <Notice key={sentence} severity="warning" title={sentence} />
      ))}
      <NodeFacts node={node} />
      <NodeUsage node={node} />
      <NodeReplicas id={node.id} />
      <NodeVolumes id={node.id} />
      <DrainPanel node={node} cordon={cordon} />
      <RemovePanel node={node} />
    </>
  )
}

function Unknown() {
  const { tenant } = useSession()
  return (
    <div className={styles.page}>
      <PageHead title={texts.failures.notFound(texts.nodes.unknown)} />
      <p>
        {texts.pages.notFoundNext}{' '}
        <Link to="/t/$tenant/nodes" params={{ tenant }}>
          {texts.nodes.all}
        </Link>
      </p>
    </div>
  )
}
