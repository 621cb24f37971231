// The number of replicas that a scaling policy wants, the usage that it measures, and why it does not act.

import type { Scaling } from '@holdfast/contract'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Fact, Facts } from '../../parts/resource/facts.tsx'
import { texts } from '../../texts/en.ts'
import { wordsOf } from '../../texts/show-value.ts'
import styles from './scaling-page.module.css'

export function PolicyStatus({ scaling }: { readonly scaling: Scaling }) {
  const { status, min, max, metric, targetPercent, scaleDownDelay } = scaling
  const { desired, wanted, measuredPercent, ready, measured, unreachable, reason, message, scaledAt } = status
  return (
    <Panel title={texts.scaling.now} aside={wordsOf(reason)}>
      <p className={styles.message}>{message}</p>
      <Facts>
        <Fact name={texts.scaling.desired}>{desired}</Fact>
        <Fact name={texts.scaling.wanted}>{wanted ?? texts.scaling.unknown}</Fact>
        <Fact name={texts.scaling.usage}>
          {texts.scaling.used(measuredPercent, targetPercent, texts.scaling.metrics[metric])}
        </Fact>
        <Fact name={texts.scaling.samples}>{texts.scaling.measured(measured, ready)}</Fact>
        {unreachable.length === 0 ? null : <Fact name={texts.scaling.silent}>{unreachable.join(', ')}</Fact>}
        <Fact name={texts.scaling.bounds}>{texts.scaling.range(min, max)}</Fact>
        <Fact name={texts.scaling.delay}>{scaleDownDelay}</Fact>
        {scaledAt === null ? null : (
          <Fact name={texts.scaling.scaledAt}>
            <Moment iso={scaledAt} />
          </Fact>
        )}
      </Facts>
    </Panel>
  )
}
