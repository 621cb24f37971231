// Placement rejections of every kind that a tenant can fix, each with the changes that must fix it. A lane is a list of
// cases that run one after the other on a node of their own, so that lanes can run concurrently.

import {
  type ChangeKind,
  type Constraint,
  type DeploymentSpec,
  NODE_COUNTRY,
  type ResidencyDemand,
} from '@holdfast/contract'
import { act, advertise, put, setQuota, untilStatus, type Ward } from './apply-cure.ts'
import { untilPhase } from './lab-reads.ts'

type Requirements = Partial<Pick<DeploymentSpec, 'replicas' | 'placement' | 'resources'>>

export interface CureCase {
  /** Name of the deployment that the node rejects. */
  readonly name: string
  readonly kinds: readonly ChangeKind[]
  readonly requirements?: Requirements
  /** True if the deployment's placement constraint names another node than the one on which the case runs. */
  readonly namesOther?: true
  /** True if nodes of other test cases may also run the deployment, once the cause of the rejection is fixed. */
  readonly anywhere?: true
  /** Prepares the node of the test case so that the node rejects the deployment. */
  readonly before?: (ward: Ward) => Promise<unknown>
}

export interface Lane {
  readonly node: string
  readonly cases: readonly CureCase[]
  /** A deployment that runs on the lane's node during all test cases of the lane. */
  readonly beside?: { readonly name: string; readonly replicas: number }
}

/** The node label by which the deployments of a lane (a list of test cases) are kept on the lane's own node. */
const LANE = 'lane'
/** Name of the node whose test cases stop and restart the node's agent. */
const UNSTEADY = 'acme-5'

/** The constraint that keeps a deployment on the node of its test case; `anywhere` allows all nodes but one. */
export const staysOn = (node: string, { anywhere }: CureCase): Constraint =>
  anywhere === true ? isNotIn(LANE, UNSTEADY) : isIn(LANE, node)

const GIBIBYTE = 1024 ** 3

const demands = (...constraints: Constraint[]): Requirements => ({ placement: { constraints } })
const isIn = (label: string, ...values: string[]): Constraint => ({ label, operator: 'in', values })
const isNotIn = (label: string, ...values: string[]): Constraint => ({ label, operator: 'notIn', values })
const exists = (label: string): Constraint => ({ label, operator: 'exists' })
const isAbsent = (label: string): Constraint => ({ label, operator: 'notExists' })
const resides = (residency: ResidencyDemand): Requirements => ({ placement: { residency } })
const asks = (cpuMillis: number, memoryBytes: number): Requirements => ({
  resources: { cpuMillis, memoryBytes },
})
const cordon = (ward: Ward) => act(ward, 'cordon')

/** Test cases about labels that the node has from the start. */
const labels: readonly CureCase[] = [
  { name: 'label-absent', kinds: ['set_label'], requirements: demands(isIn('disk', 'ssd', 'nvme')) },
  { name: 'label-other', kinds: ['set_label'], requirements: demands(isIn('net', 'fast')) },
  { name: 'label-exists', kinds: ['set_label'], requirements: demands(exists('gpu')) },
  { name: 'label-not-in', kinds: ['set_label'], requirements: demands(isNotIn('tier', 'gold')) },
  { name: 'label-not-exists', kinds: ['set_label'], requirements: demands(isAbsent('old')) },
  {
    name: 'label-neither',
    kinds: ['set_label'],
    requirements: demands(exists('mark'), isNotIn('mark', 'true')),
  },
  {
    name: 'label-narrowed',
    kinds: ['set_label'],
    requirements: demands(isIn('z', 'a', 'b'), isNotIn('z', 'a')),
  },
  { name: 'label-equals', kinds: ['set_label'], requirements: demands(isIn('formula', 'a=b')) },
  { name: 'label-inherited', kinds: ['set_label'], requirements: demands(exists('constructor')) },
  {
    name: 'labels-two',
    kinds: ['set_label', 'set_label'],
    requirements: demands(isIn('row', '1'), isIn('shelf', '2')),
  },
  {
    name: 'labels-in-and-out',
    kinds: ['set_label', 'set_label'],
    requirements: demands(isIn('fire', 'none'), isAbsent('wet')),
  },
  {
    name: 'label-and-cordon',
    kinds: ['uncordon', 'set_label'],
    before: cordon,
    requirements: demands(exists('late')),
  },
]

const silent = ({ labels: advertised, residency }: Ward['advertised']): Ward['advertised'] => {
  const { [NODE_COUNTRY]: _out, ...others } = advertised
  return { labels: others, residency }
}
const advertisesNoCountry = (ward: Ward) => advertise(ward, silent(ward.advertised))

/** Residency cases, on a node whose attested country is DE at the start. */
const residency: readonly CureCase[] = [
  {
    name: 'country-not-advertised',
    kinds: ['set_label'],
    requirements: resides({ country: 'DE' }),
    before: advertisesNoCountry,
  },
  {
    name: 'region-not-advertised',
    kinds: ['set_label'],
    requirements: resides({ region: 'dach' }),
    before: advertisesNoCountry,
  },
  { name: 'country-other', kinds: ['attest_label'], requirements: resides({ country: 'FR' }) },
  { name: 'region-other', kinds: ['attest_label'], requirements: resides({ region: 'nordics' }) },
  {
    name: 'country-constraint',
    kinds: ['change_constraint'],
    requirements: demands(isIn(NODE_COUNTRY, 'AT')),
  },
  {
    name: 'blocked',
    kinds: ['change_residency'],
    requirements: resides({ blockedCountries: ['FR'] }),
  },
  {
    name: 'blocked-among-others',
    kinds: ['change_residency'],
    requirements: resides({ blockedCountries: ['IT', 'FR', 'ES'] }),
  },
  {
    name: 'blocked-and-label',
    kinds: ['change_residency', 'set_label'],
    requirements: {
      placement: { residency: { blockedCountries: ['FR'] }, constraints: [isIn('shore', 'dry')] },
    },
  },
  {
    name: 'country-and-blocked',
    kinds: ['attest_label'],
    requirements: resides({ country: 'DE', blockedCountries: ['FR'] }),
  },
]

const heavy = (cpuMillis: number, memoryBytes: number) => (ward: Ward) =>
  put(ward.api, 'heavy', { resources: { cpuMillis, memoryBytes } })

/** Resource cases, on a node of 4 cores and 8 GiB that also runs the deployment `heavy`. */
const room: readonly CureCase[] = [
  { name: 'cordoned', kinds: ['uncordon'], before: cordon },
  { name: 'cpu-taken', kinds: ['free'], requirements: asks(300, 0), before: heavy(3900, 0) },
  {
    name: 'memory-taken',
    kinds: ['free'],
    requirements: asks(0, 4096),
    before: heavy(0, 8 * GIBIBYTE - 1000),
  },
  { name: 'drained', kinds: ['uncordon'], before: (ward) => act(ward, 'drain') },
  {
    name: 'both-taken',
    kinds: ['free'],
    requirements: asks(200, 300),
    before: heavy(3999, 8 * GIBIBYTE - 100),
  },
  { name: 'all-taken', kinds: ['free'], requirements: asks(4000, 0), before: heavy(4000, 0) },
  { name: 'cpu-too-large', kinds: ['lower_request'], requirements: asks(4500, 0), before: heavy(0, 0) },
  { name: 'memory-too-large', kinds: ['lower_request'], requirements: asks(0, 9 * GIBIBYTE) },
  {
    name: 'too-large-and-taken',
    kinds: ['lower_request'],
    requirements: asks(5000, 0),
    before: heavy(1000, 0),
  },
  {
    name: 'both-too-large',
    kinds: ['lower_request'],
    requirements: asks(4001, 8 * GIBIBYTE + 5),
    before: heavy(7, 11),
  },
  {
    name: 'too-large-for-all',
    kinds: ['lower_request'],
    requirements: asks(6000, 0),
    anywhere: true,
    before: heavy(0, 0),
  },
  {
    name: 'taken-and-cordoned',
    kinds: ['uncordon', 'free'],
    requirements: asks(1000, 0),
    async before(ward) {
      await heavy(3500, 0)(ward)
      await cordon(ward)
    },
  },
]

/** Returns a preparation step that makes the named deployments run on the node of the test case. */
const neighbours =
  (...names: readonly string[]) =>
  async (ward: Ward): Promise<void> => {
    for (const name of names) await runThere(ward, name, name === 'pair' ? 2 : 1)
  }

export async function runThere(
  { api, nodeId, cluster }: Ward,
  name: string,
  replicas: number,
): Promise<void> {
  const body = { kind: 'Deployment', name, image: cluster.image, replicas, nodeId }
  const { status } = await api.post('/api/v1/deployments', body)
  if (status !== 201) await put(api, name, { replicas, nodeId })
  await untilPhase(api, name, 'Running')
}

const affinityTo = (...affinity: string[]): Requirements => ({ placement: { affinity } })
const antiAffinityTo = (...antiAffinity: string[]): Requirements => ({ placement: { antiAffinity } })

const company: readonly CureCase[] = [
  { name: 'beside-none-yet', kinds: ['place_beside'], requirements: affinityTo('made-for-it') },
  {
    name: 'beside-the-stopped',
    kinds: ['place_beside'],
    requirements: affinityTo('stopped'),
    async before({ api, cluster }) {
      const body = { kind: 'Deployment', name: 'stopped', image: cluster.image, replicas: 0 }
      await api.post('/api/v1/deployments', body)
    },
  },
  { name: 'beside-two', kinds: ['place_beside', 'place_beside'], requirements: affinityTo('left', 'right') },
  {
    name: 'beside-one-of-two',
    kinds: ['place_beside'],
    requirements: affinityTo('left', 'third'),
  },
  {
    name: 'away-from-one',
    kinds: ['move_away'],
    requirements: antiAffinityTo('noisy'),
    before: neighbours('noisy'),
  },
  {
    name: 'away-from-a-pair',
    kinds: ['move_away'],
    requirements: antiAffinityTo('pair'),
    before: neighbours('pair'),
  },
  {
    name: 'away-from-two',
    kinds: ['move_away', 'move_away'],
    requirements: antiAffinityTo('noisy', 'loud'),
    before: neighbours('noisy', 'loud'),
  },
  {
    name: 'beside-and-away',
    kinds: ['place_beside', 'move_away'],
    requirements: { placement: { affinity: ['quiet'], antiAffinity: ['noisy'] } },
    before: neighbours('noisy'),
  },
  {
    name: 'torn-absent',
    kinds: ['change_affinity'],
    requirements: { placement: { affinity: ['absent'], antiAffinity: ['absent'] } },
  },
  {
    name: 'torn-present',
    kinds: ['change_anti_affinity'],
    requirements: { placement: { affinity: ['loud'], antiAffinity: ['loud'] } },
    before: neighbours('loud'),
  },
  {
    name: 'alone',
    kinds: ['change_anti_affinity'],
    requirements: { replicas: 2, placement: { antiAffinity: ['alone'] } },
  },
  { name: 'named', kinds: ['name_node'], namesOther: true },
  { name: 'named-and-cordoned', kinds: ['name_node', 'uncordon'], namesOther: true, before: cordon },
  {
    name: 'contradiction',
    kinds: ['change_constraint'],
    requirements: demands(exists('odd'), isAbsent('odd')),
  },
  {
    name: 'contradiction-anywhere',
    kinds: ['change_constraint'],
    anywhere: true,
    requirements: demands(isIn('even', '2'), isNotIn('even', '2')),
  },
  { name: 'reserved', kinds: ['change_constraint'], requirements: demands(exists('holdfast.io/none')) },
]

const loseAgent = async (ward: Ward): Promise<void> => {
  await ward.cluster.lab.killAgent(ward.node)
  await untilStatus(ward, 'unreachable')
}

const readiness: readonly CureCase[] = [
  { name: 'agent-gone', kinds: ['make_ready'], before: loseAgent },
  {
    name: 'agent-gone-and-label',
    kinds: ['make_ready', 'set_label'],
    before: loseAgent,
    requirements: demands(isIn('back', 'yes')),
  },
  {
    name: 'agent-gone-and-cordon',
    kinds: ['make_ready', 'uncordon'],
    async before(ward) {
      await cordon(ward)
      await loseAgent(ward)
    },
  },
  {
    name: 'power-gone',
    kinds: ['make_ready'],
    async before(ward) {
      await ward.cluster.lab.powerOff(ward.node)
      await untilStatus(ward, 'unreachable')
    },
  },
]

/** Quota cases. The tenant's deployment `held` has two containers. */
const quota: readonly CureCase[] = [
  { name: 'quota-reached', kinds: ['raise_quota'], before: (ward) => setQuota(ward, 2) },
  { name: 'quota-exceeded', kinds: ['raise_quota'], before: (ward) => setQuota(ward, 0) },
  {
    name: 'quota-for-one',
    kinds: ['raise_quota'],
    requirements: { replicas: 2 },
    before: (ward) => setQuota(ward, 3),
  },
  {
    name: 'quota-and-cordon',
    kinds: ['uncordon', 'raise_quota'],
    async before(ward) {
      await cordon(ward)
      await setQuota(ward, 1)
    },
  },
  {
    name: 'quota-and-label',
    kinds: ['set_label', 'raise_quota'],
    requirements: demands(exists('roof')),
    before: (ward) => setQuota(ward, 2),
  },
  {
    name: 'quota-and-request',
    kinds: ['lower_request', 'raise_quota'],
    requirements: asks(4001, 0),
    before: (ward) => setQuota(ward, 2),
  },
  {
    name: 'quota-and-company',
    kinds: ['place_beside', 'raise_quota'],
    requirements: affinityTo('guest'),
    before: (ward) => setQuota(ward, 2),
  },
]

const LABELS: { readonly [node: string]: Ward['advertised']['labels'] } = {
  'acme-1': { net: 'slow', tier: 'gold', old: '1', wet: '' },
}
const COUNTRIES: { readonly [node: string]: string } = { 'acme-2': 'DE' }

/** The labels and location that a node advertises at the start. */
export function firstAdvertised(node: string): Ward['advertised'] {
  const country = COUNTRIES[node]
  const labels = { [LANE]: node, ...LABELS[node] }
  if (country === undefined) return { labels, residency: {} }
  return { labels: { ...labels, [NODE_COUNTRY]: country }, residency: { country } }
}

export const LANES: readonly Lane[] = [
  { node: 'acme-1', cases: labels },
  { node: 'acme-2', cases: residency },
  { node: 'acme-3', cases: room, beside: { name: 'heavy', replicas: 1 } },
  { node: 'acme-4', cases: company },
  { node: UNSTEADY, cases: readiness },
  { node: 'globex-1', cases: quota, beside: { name: 'held', replicas: 2 } },
]

const called = (...wanted: readonly string[]): CureCase[] =>
  LANES.flatMap(({ cases }) => cases.filter(({ name }) => wanted.includes(name)))

/** A change of an agent's configuration, another enrollment, and a machine that has to come back. */
export const FEWEST_LANES: readonly Lane[] = [
  { node: 'acme-1', cases: called('labels-two', 'power-gone') },
  { node: 'acme-2', cases: called('country-other') },
]
