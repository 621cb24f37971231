// The facts of a node: its place, resources, labels, engine, agent, storage.

import type { Node } from '@holdfast/contract'
import { usePlace } from '../../api/nodes/use-node-place.ts'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Fact, Facts } from '../../parts/resource/facts.tsx'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatCpu } from '../../texts/format.ts'
import { showPlace } from '../../texts/show-place.ts'
import styles from './node-page.module.css'

const agentText = ({ agentVersion, agentOutdated }: Node): string => {
  if (agentVersion === undefined) return texts.nodes.never
  return agentOutdated === true ? texts.nodes.outdated(agentVersion) : agentVersion
}

export function NodeFacts({ node }: { readonly node: Node }) {
  const { capacity, requested, labels, engine, storage, lastHeardAt, controlPlane } = node
  const place = usePlace(node)
  const [cpu, memory] = [formatCpu(capacity.cpuMillis), formatBytes(capacity.memoryBytes)]
  return (
    <Panel title={texts.nodes.facts}>
      <Facts>
        <Fact name={texts.nodes.place}>{showPlace(place)}</Fact>
        <Fact name={texts.nodes.cpu}>
          {requested === undefined ? cpu : texts.nodes.requested(formatCpu(requested.cpuMillis), cpu)}
        </Fact>
        <Fact name={texts.nodes.memory}>
          {requested === undefined
            ? memory
            : texts.nodes.requested(formatBytes(requested.memoryBytes), memory)}
        </Fact>
        {storage === undefined ? null : (
          <Fact name={texts.nodes.storage}>
            {storage.fault ??
              texts.overview.used(formatBytes(storage.usedBytes), formatBytes(storage.poolBytes))}
          </Fact>
        )}
        <Fact name={texts.nodes.engine}>{engine.version}</Fact>
        <Fact name={texts.nodes.agent}>{agentText(node)}</Fact>
        {lastHeardAt === undefined || lastHeardAt === null ? null : (
          <Fact name={texts.nodes.heard}>
            <Moment iso={lastHeardAt} />
          </Fact>
        )}
        {controlPlane ? <Fact name={texts.nodes.role}>{texts.nodes.controlPlane}</Fact> : null}
        <Fact name={texts.nodes.labels}>
          {Object.keys(labels).length === 0
            ? texts.nodes.noLabels
            : Object.entries(labels).map(([name, value]) => (
                <code key={name} className={styles.label}>
                  {name}={value}
                </code>
              ))}
        </Fact>
      </Facts>
    </Panel>
  )
}
