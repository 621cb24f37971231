import { describe, expect, test } from 'vitest'
import { DEFAULT_PORTS, type SetupOptions } from '../layout.ts'
import { configuredAddress, planNetwork } from './network.ts'

const first: SetupOptions = {
  root: '/',
  publicUrl: 'https://holdfast.example.com:8443',
  listenPort: 8443,
  engines: '/engines',
  ports: DEFAULT_PORTS,
  name: 'one',
  address: '10.0.0.1',
}
const joining: SetupOptions = {
  ...first,
  name: 'c',
  address: '10.0.0.3',
  joins: { etcd: ['https://10.0.0.1:2379'], secretsStores: ['https://10.0.0.1:8200'] },
}
const member = (name: string, address: string, isLearner = false) => ({
  id: 255n,
  name,
  peerUrls: [`https://${address}:2380`],
  clientUrls: name === '' ? [] : [`https://${address}:2379`],
  isLearner,
})
const [one, b, c] = [member('one', '10.0.0.1'), member('b', '10.0.0.2'), member('c', '10.0.0.3')]
const facts = { members: [one, b], hasEtcdData: false, etcdEnvironment: undefined }

describe('the first start of etcd', () => {
  test('on the first machine names it alone, also after another one joined', () => {
    expect(planNetwork(facts, first).initialCluster).toBe('one=https://10.0.0.1:2380')
  })
  test('on a machine that joins names all members and itself', () => {
    const all = 'b=https://10.0.0.2:2380,one=https://10.0.0.1:2380,c=https://10.0.0.3:2380'
    expect(planNetwork(facts, joining).initialCluster).toBe(all)
    const added = [one, b, member('', '10.0.0.3', true)]
    expect(planNetwork({ ...facts, members: added }, joining).initialCluster).toBe(all)
  })
  test('names a member that has not started by its id', () => {
    const members = [one, member('', '10.0.0.2', true)]
    expect(planNetwork({ ...facts, members }, joining).initialCluster).toContain(
      'added-ff=https://10.0.0.2:2380',
    )
  })
  test('stays as it was when another machine joins later', () => {
    const before = { ...facts, hasEtcdData: true, etcdEnvironment: 'A=1\nETCD_INITIAL_CLUSTER=x=https://x\n' }
    expect(planNetwork(before, joining).initialCluster).toBe('x=https://x')
  })
})

test.each<[string, readonly (typeof one)[] | undefined, SetupOptions, readonly string[] | undefined]>([
  [
    'its own member first',
    [one, b, c],
    joining,
    ['https://10.0.0.3:2379', 'https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
  ],
  ['no learner', [one, member('b', '10.0.0.2', true)], first, ['https://10.0.0.1:2379']],
  ['loopback alone on one machine', [one], { ...first, address: '127.0.0.1' }, ['https://127.0.0.1:2379']],
  ['what they have while no member answers', undefined, joining, undefined],
])('clients use %s', (_, members, options, endpoints) => {
  expect(planNetwork({ ...facts, members }, options).endpoints).toEqual(endpoints)
})

test.each([
  [undefined, undefined],
  ['ETCD_NAME=one\nETCD_LISTEN_CLIENT_URLS=https://10.0.0.1:2379\n', '10.0.0.1'],
  ['ETCD_LISTEN_CLIENT_URLS=https://[fd00::1]:2379\n', 'fd00::1'],
])('the address of %j is %s', (environment, address) => {
  expect(configuredAddress(environment)).toBe(address)
})
