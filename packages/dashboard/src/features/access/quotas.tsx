// The quotas of the tenant: used of limit.

import { explainFailure } from '../../api/failure.ts'
import { useQuotas } from '../../api/resources/use-access.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Fact, Facts } from '../../parts/resource/facts.tsx'
import { accessTexts } from '../../texts/en/access.ts'
import { formatBytes, formatNumber } from '../../texts/format.ts'
import { wordsOf } from '../../texts/show-value.ts'

export function Quotas() {
  const { data, error } = useQuotas()
  return (
    <Panel title={accessTexts.quotas} aside={accessTexts.quotasNote}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : (
        <Facts>
          {data.map(({ kind, used, limit }) => {
            const format = kind.endsWith('_bytes') ? formatBytes : formatNumber
            return (
              <Fact key={kind} name={wordsOf(kind)}>
                {accessTexts.usedOf(format(used), format(limit))}
              </Fact>
            )
          })}
        </Facts>
      )}
    </Panel>
  )
}
