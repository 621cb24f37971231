// `npm run dev:node -- off acme-2`: pulls the plug of a machine of the development platform, or puts it back
// (`on acme-2`), or starts its agent again with other labels (`label acme-2 zone=b`).

import { folderFromArguments } from './dev/dev-folder.ts'
import { orderPower } from './dev/power.ts'

process.stdout.write(`${await orderPower(folderFromArguments([]), process.argv.slice(2))}\n`)
