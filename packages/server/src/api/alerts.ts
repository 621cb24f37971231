// Suggested alerts on the metrics of the server; docs/reference/metrics.md lists them.

import { METRICS } from './metrics.ts'

interface AlertRow {
  readonly expression: string
  /** How long the expression holds before a person is called. */
  readonly for: string
  readonly meaning: string
}

export const ALERTS: readonly AlertRow[] = [
  {
    expression: `max(${METRICS.storePressure.name}) > 0.8`,
    for: '10m',
    meaning:
      "etcd is filling up: at 100 % it refuses all writes. Delete what is not needed, or raise etcd's `--quota-backend-bytes` and `etcd.quotaBytes` together.",
  },
  ...[30, 14, 7].map((days) => ({
    expression: `${METRICS.certificateExpiry.name} - time() < ${days} * 86400`,
    for: '1h',
    meaning: `A certificate expires within ${days} days. Renew it; the server serves the new file without a reload.`,
  })),
  // By default the store limits a lifetime to 32 days, of which 16 are left at a renewal.
  ...[14, 7].map((days) => ({
    expression: `${METRICS.secretIdExpiry.name} - time() < ${days} * 86400`,
    for: '1h',
    meaning: `A secret id of a server or broker expires within ${days} days and was not renewed. Read the log of the process; docs/guides/configuration.md says how to renew it by hand.`,
  })),
  {
    expression: `${METRICS.cutOff.name} == 1`,
    for: '0m',
    meaning:
      'A server does not reach etcd although another one does. Its agents moved to other servers; check its network, its client certificate for etcd and its log.',
  },
  {
    expression: `${METRICS.volumes.name}{phase="Lost"} > 0`,
    for: '0m',
    meaning: 'A volume has no copy left.',
  },
  {
    expression: `${METRICS.unprotectedVolumes.name} > 0`,
    for: '10m',
    meaning: 'Nothing replaces a primary if its node dies. `holdfast why volume NAME` names the obstacle.',
  },
  {
    expression: `${METRICS.fencedVolumes.name} > 0`,
    for: '2m',
    meaning: 'Writers are stopped: the node of a primary does not reach the nodes of its copies.',
  },
  {
    expression: `delta(${METRICS.promotions.name}{cause="primary_silent"}[1h]) > 0`,
    for: '0m',
    meaning: 'A copy has replaced a silent primary. The event volume.promoted bounds the lost writes.',
  },
  {
    expression: `${METRICS.missingCopies.name} > 0`,
    for: '15m',
    meaning: 'A copy has no node, or its data is missing.',
  },
  {
    expression: `${METRICS.volumeReplicas.name}{state="lagging"} > 0`,
    for: '10m',
    meaning: 'A copy is more than 15 s behind its primary.',
  },
  {
    expression: `max(${METRICS.volumeLag.name}{quantile="1"}) > 60`,
    for: '5m',
    meaning:
      'A copy is more than a minute behind: if the node of its primary dies, that much is lost, or beyond `volumes.promotion.maxLagSeconds` nothing replaces it. `holdfast volume describe NAME` shows the age of each copy.',
  },
  {
    expression: `max(${METRICS.unknownLag.name}) > 0`,
    for: '15m',
    meaning:
      'The lag of a copy cannot be measured: it is still being seeded, or the node of its primary does not answer.',
  },
  {
    expression: `${METRICS.divergences.name} > 0`,
    for: '24h',
    meaning: 'Former data of a volume is kept in quarantine and uses space.',
  },
]
