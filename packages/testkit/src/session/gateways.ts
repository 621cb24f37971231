// Gateways over the shared etcd, with a key root for each test; all gateways end with the test.

import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import { onTestFinished } from 'vitest'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from './start-gateway.ts'

type Options = Partial<TestGatewayOptions>

export async function gatewayForTest(options: Options = {}): Promise<TestGateway> {
  const [gateway] = await gatewaysForTest(options)
  return gateway
}

/** Starts one gateway for each of the given options. */
export async function gatewaysForTest<O extends readonly [Options, ...Options[]]>(
  ...each: O
): Promise<{ [K in keyof O]: TestGateway }> {
  const { endpoints } = await sharedEtcd()
  const root = `/${uniqueName('session')}`
  const started = await Promise.all(
    each.map((options, index) =>
      startTestGateway({ endpoints, root, replica: `server-${index + 1}`, ...options }),
    ),
  )
  onTestFinished(async () => {
    await Promise.all(started.map((one) => one.stop()))
  })
  return started as { [K in keyof O]: TestGateway }
}
