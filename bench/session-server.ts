// A process that only serves agent sessions: the gateway over a store, behind TLS. Prints its address on the first line
// and exits when its stdin ends. Usage: node bench/session-server.ts '<options as JSON>'

import { startTestGateway, type TestGatewayOptions } from '@holdfast/testkit/session/start-gateway'

const options: TestGatewayOptions = JSON.parse(process.argv[2] ?? '{}')
const { url, gateway, stop } = await startTestGateway(options)
console.log(JSON.stringify({ url }))
process.stdin.resume()
process.stdin.on('end', () => {
  console.log(JSON.stringify(gateway.counts))
  stop().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
