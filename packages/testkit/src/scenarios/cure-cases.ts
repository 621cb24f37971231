// Refusals of every kind that somebody of the tenant can do something about, each with the kinds of change that are to cure
// it. Those of one lane are made one after the other on its node and never concern another one.

import {
  type ChangeKind,
  type Constraint,
  type DeploymentSpec,
  NODE_COUNTRY,
  type ResidencyDemand,
} from '@holdfast/contract'
import { act, put, setQuota, tell, untilStatus, type Ward } from './apply-cure.ts'
import { untilPhase } from './lab-reads.ts'

type Wishes = Partial<Pick<DeploymentSpec, 'replicas' | 'placement' | 'resources'>>

export interface CureCase {
  /** Of the deployment. */
  readonly name: string
  readonly kinds: readonly ChangeKind[]
  readonly wishes?: Wishes
  /** It names a node that is not the lane's. */
  readonly namesOther?: true
  /** Other nodes than the lane's may take it too, once it is cured there. */
  readonly anywhere?: true
  /** What makes the node refuse it. */
  readonly before?: (ward: Ward) => Promise<unknown>
}

export interface Lane {
  readonly node: string
  readonly cases: readonly CureCase[]
  /** Runs on the node all the time. */
  readonly beside?: { readonly name: string; readonly replicas: number }
}

/** What keeps the deployments of a lane on its node. */
const LANE = 'lane'
/** Its agent comes and goes. */
const UNSTEADY = 'acme-5'

/** Nodes of other lanes may take it, too, where the case says so. */
export const staysOn = (node: string, { anywhere }: CureCase): Constraint =>
  anywhere === true ? isNotIn(LANE, UNSTEADY) : isIn(LANE, node)

const GIBIBYTE = 1024 ** 3

const demands = (...constraints: Constraint[]): Wishes => ({ placement: { constraints } })
const isIn = (label: string, ...values: string[]): Constraint => ({ label, operator: 'in', values })
const isNotIn = (label: string, ...values: string[]): Constraint => ({ label, operator: 'notIn', values })
const exists = (label: string): Constraint => ({ label, operator: 'exists' })
const isAbsent = (label: string): Constraint => ({ label, operator: 'notExists' })
const resides = (residency: ResidencyDemand): Wishes => ({ placement: { residency } })
const asks = (cpuMillis: number, memoryBytes: number): Wishes => ({
  resources: { cpuMillis, memoryBytes },
})
const cordon = (ward: Ward) => act(ward, 'cordon')

/** With labels that the node has from the beginning. */
const labels: readonly CureCase[] = [
  { name: 'label-absent', kinds: ['set_label'], wishes: demands(isIn('disk', 'ssd', 'nvme')) },
  { name: 'label-other', kinds: ['set_label'], wishes: demands(isIn('net', 'fast')) },
  { name: 'label-exists', kinds: ['set_label'], wishes: demands(exists('gpu')) },
  { name: 'label-not-in', kinds: ['set_label'], wishes: demands(isNotIn('tier', 'gold')) },
  { name: 'label-not-exists', kinds: ['set_label'], wishes: demands(isAbsent('old')) },
  { name: 'label-neither', kinds: ['set_label'], wishes: demands(exists('mark'), isNotIn('mark', 'true')) },
  { name: 'label-narrowed', kinds: ['set_label'], wishes: demands(isIn('z', 'a', 'b'), isNotIn('z', 'a')) },
  { name: 'label-equals', kinds: ['set_label'], wishes: demands(isIn('formula', 'a=b')) },
  { name: 'label-inherited', kinds: ['set_label'], wishes: demands(exists('constructor')) },
  {
    name: 'labels-two',
    kinds: ['set_label', 'set_label'],
    wishes: demands(isIn('row', '1'), isIn('shelf', '2')),
  },
  {
    name: 'labels-in-and-out',
    kinds: ['set_label', 'set_label'],
    wishes: demands(isIn('fire', 'none'), isAbsent('wet')),
  },
  {
    name: 'label-and-cordon',
    kinds: ['uncordon', 'set_label'],
    before: cordon,
    wishes: demands(exists('late')),
  },
]

const silent = ({ labels: advertised, residency }: Ward['said']): Ward['said'] => {
  const { [NODE_COUNTRY]: _out, ...others } = advertised
  return { labels: others, residency }
}
const saysNoCountry = (ward: Ward) => tell(ward, silent(ward.said))

/** On a node that begins in DE, attested. */
const residency: readonly CureCase[] = [
  { name: 'country-unsaid', kinds: ['set_label'], wishes: resides({ country: 'DE' }), before: saysNoCountry },
  { name: 'region-unsaid', kinds: ['set_label'], wishes: resides({ region: 'dach' }), before: saysNoCountry },
  { name: 'country-other', kinds: ['attest_label'], wishes: resides({ country: 'FR' }) },
  { name: 'region-other', kinds: ['attest_label'], wishes: resides({ region: 'nordics' }) },
  {
    name: 'country-constraint',
    kinds: ['change_constraint'],
    wishes: demands(isIn(NODE_COUNTRY, 'AT')),
  },
  {
    name: 'blocked',
    kinds: ['change_residency'],
    wishes: resides({ blockedCountries: ['FR'] }),
  },
  {
    name: 'blocked-among-others',
    kinds: ['change_residency'],
    wishes: resides({ blockedCountries: ['IT', 'FR', 'ES'] }),
  },
  {
    name: 'blocked-and-label',
    kinds: ['change_residency', 'set_label'],
    wishes: {
      placement: { residency: { blockedCountries: ['FR'] }, constraints: [isIn('shore', 'dry')] },
    },
  },
  {
    name: 'country-and-blocked',
    kinds: ['attest_label'],
    wishes: resides({ country: 'DE', blockedCountries: ['FR'] }),
  },
]

const heavy = (cpuMillis: number, memoryBytes: number) => (ward: Ward) =>
  put(ward.api, 'heavy', { resources: { cpuMillis, memoryBytes } })

/** On a node of 4 cores and 8 GiB, beside `heavy`. */
const room: readonly CureCase[] = [
  { name: 'cordoned', kinds: ['uncordon'], before: cordon },
  { name: 'cpu-taken', kinds: ['free'], wishes: asks(300, 0), before: heavy(3900, 0) },
  { name: 'memory-taken', kinds: ['free'], wishes: asks(0, 4096), before: heavy(0, 8 * GIBIBYTE - 1000) },
  { name: 'drained', kinds: ['uncordon'], before: (ward) => act(ward, 'drain') },
  {
    name: 'both-taken',
    kinds: ['free'],
    wishes: asks(200, 300),
    before: heavy(3999, 8 * GIBIBYTE - 100),
  },
  { name: 'all-taken', kinds: ['free'], wishes: asks(4000, 0), before: heavy(4000, 0) },
  { name: 'cpu-too-large', kinds: ['lower_request'], wishes: asks(4500, 0), before: heavy(0, 0) },
  { name: 'memory-too-large', kinds: ['lower_request'], wishes: asks(0, 9 * GIBIBYTE) },
  { name: 'too-large-and-taken', kinds: ['lower_request'], wishes: asks(5000, 0), before: heavy(1000, 0) },
  {
    name: 'both-too-large',
    kinds: ['lower_request'],
    wishes: asks(4001, 8 * GIBIBYTE + 5),
    before: heavy(7, 11),
  },
  {
    name: 'too-large-for-all',
    kinds: ['lower_request'],
    wishes: asks(6000, 0),
    anywhere: true,
    before: heavy(0, 0),
  },
  {
    name: 'taken-and-cordoned',
    kinds: ['uncordon', 'free'],
    wishes: asks(1000, 0),
    async before(ward) {
      await heavy(3500, 0)(ward)
      await cordon(ward)
    },
  },
]

/** Beside the deployment of the case, on its node. */
const neighbours =
  (...names: readonly string[]) =>
  async (ward: Ward): Promise<void> => {
    for (const name of names) await runThere(ward, name, name === 'pair' ? 2 : 1)
  }

export async function runThere({ api, nodeId, whole }: Ward, name: string, replicas: number): Promise<void> {
  const body = { kind: 'Deployment', name, image: whole.image, replicas, nodeId }
  const { status } = await api.post('/api/v1/deployments', body)
  if (status !== 201) await put(api, name, { replicas, nodeId })
  await untilPhase(api, name, 'Running')
}

const goesWith = (...affinity: string[]): Wishes => ({ placement: { affinity } })
const shuns = (...antiAffinity: string[]): Wishes => ({ placement: { antiAffinity } })

const company: readonly CureCase[] = [
  { name: 'beside-nobody-yet', kinds: ['place_beside'], wishes: goesWith('made-for-it') },
  {
    name: 'beside-the-stopped',
    kinds: ['place_beside'],
    wishes: goesWith('stopped'),
    async before({ api, whole }) {
      const body = { kind: 'Deployment', name: 'stopped', image: whole.image, replicas: 0 }
      await api.post('/api/v1/deployments', body)
    },
  },
  { name: 'beside-two', kinds: ['place_beside', 'place_beside'], wishes: goesWith('left', 'right') },
  {
    name: 'beside-one-of-two',
    kinds: ['place_beside'],
    wishes: goesWith('left', 'third'),
  },
  { name: 'away-from-one', kinds: ['move_away'], wishes: shuns('noisy'), before: neighbours('noisy') },
  { name: 'away-from-a-pair', kinds: ['move_away'], wishes: shuns('pair'), before: neighbours('pair') },
  {
    name: 'away-from-two',
    kinds: ['move_away', 'move_away'],
    wishes: shuns('noisy', 'loud'),
    before: neighbours('noisy', 'loud'),
  },
  {
    name: 'beside-and-away',
    kinds: ['place_beside', 'move_away'],
    wishes: { placement: { affinity: ['quiet'], antiAffinity: ['noisy'] } },
    before: neighbours('noisy'),
  },
  {
    name: 'torn-absent',
    kinds: ['change_affinity'],
    wishes: { placement: { affinity: ['nobody'], antiAffinity: ['nobody'] } },
  },
  {
    name: 'torn-present',
    kinds: ['change_anti_affinity'],
    wishes: { placement: { affinity: ['loud'], antiAffinity: ['loud'] } },
    before: neighbours('loud'),
  },
  {
    name: 'alone',
    kinds: ['change_anti_affinity'],
    wishes: { replicas: 2, placement: { antiAffinity: ['alone'] } },
  },
  { name: 'named', kinds: ['name_node'], namesOther: true },
  { name: 'named-and-cordoned', kinds: ['name_node', 'uncordon'], namesOther: true, before: cordon },
  {
    name: 'contradiction',
    kinds: ['change_constraint'],
    wishes: demands(exists('odd'), isAbsent('odd')),
  },
  {
    name: 'contradiction-anywhere',
    kinds: ['change_constraint'],
    anywhere: true,
    wishes: demands(isIn('even', '2'), isNotIn('even', '2')),
  },
  { name: 'reserved', kinds: ['change_constraint'], wishes: demands(exists('holdfast.io/none')) },
]

const loseAgent = async (ward: Ward): Promise<void> => {
  await ward.whole.lab.killAgent(ward.node)
  await untilStatus(ward, 'unreachable')
}

const readiness: readonly CureCase[] = [
  { name: 'agent-gone', kinds: ['make_ready'], before: loseAgent },
  {
    name: 'agent-gone-and-label',
    kinds: ['make_ready', 'set_label'],
    before: loseAgent,
    wishes: demands(isIn('back', 'yes')),
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
      await ward.whole.lab.powerOff(ward.node)
      await untilStatus(ward, 'unreachable')
    },
  },
]

/** `held` has two containers. */
const quota: readonly CureCase[] = [
  { name: 'quota-reached', kinds: ['raise_quota'], before: (ward) => setQuota(ward, 2) },
  { name: 'quota-exceeded', kinds: ['raise_quota'], before: (ward) => setQuota(ward, 0) },
  {
    name: 'quota-for-one',
    kinds: ['raise_quota'],
    wishes: { replicas: 2 },
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
    wishes: demands(exists('roof')),
    before: (ward) => setQuota(ward, 2),
  },
  {
    name: 'quota-and-request',
    kinds: ['lower_request', 'raise_quota'],
    wishes: asks(4001, 0),
    before: (ward) => setQuota(ward, 2),
  },
  {
    name: 'quota-and-company',
    kinds: ['place_beside', 'raise_quota'],
    wishes: goesWith('guest'),
    before: (ward) => setQuota(ward, 2),
  },
]

const LABELS: { readonly [node: string]: Ward['said']['labels'] } = {
  'acme-1': { net: 'slow', tier: 'gold', old: '1', wet: '' },
}
const COUNTRIES: { readonly [node: string]: string } = { 'acme-2': 'DE' }

/** What a node says from the beginning. */
export function firstSaid(node: string): Ward['said'] {
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
