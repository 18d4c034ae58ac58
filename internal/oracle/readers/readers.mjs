// Reads exports with the programs that people open them in, and reports what these find. A request is a line of JSON on
// standard input, {"reader": ..., "file": ..., ...}; the answer is a line on standard output, {"result": ...} or
// {"error": ...}. Requests are answered one after the other. Chromium is started once, when it is first needed.
//
// Started with the directory that has node_modules and trace-processor, and the path of Chromium or nothing.
import {execFileSync, spawn} from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

const [home, chromium] = process.argv.slice(1);
const modules = path.join(home, 'node_modules');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'readers-'));

// How long each thing that a reader waits for may take, in milliseconds. It only ends what would never come: a machine
// that has much to do may need a minute for what takes a second elsewhere. It is less than the deadline of the caller, so
// that the error says what did not come.
const limit = 240000;

// Only answers go to standard output.
for (const name of ['log', 'info', 'warn', 'debug']) {
  console[name] = () => {};
}

// Perfetto's trace processor, as WebAssembly. Its bundle is made for a browser's worker; the few globals of a worker that
// it uses are defined here. Every file gets an instance of its own.
let processorModule;

async function processor() {
  const dir = path.join(home, 'trace-processor');
  const {EngineBase} = await import(path.join(dir, 'engine.mjs'));
  const source = fs.readFileSync(path.join(dir, 'engine_bundle.node.js'), 'utf8');
  const binary = fs.readFileSync(path.join(dir, 'trace_processor.wasm'));
  class Request {
    open() {}
    send() {
      this.status = 200;
      this.response = binary.buffer.slice(binary.byteOffset, binary.byteOffset + binary.length);
    }
  }
  const wasm = {};
  for (const k of Object.getOwnPropertyNames(WebAssembly)) {
    wasm[k] = WebAssembly[k];
  }
  wasm.Module = function(bytes) {
    if (bytes.byteLength === binary.length) {
      return processorModule ??= new WebAssembly.Module(bytes);
    }
    if (bytes[8] === 5) {
      throw new Error('the package has the 32 bit processor only'); // the bundle tests for 64 bit memory
    }
    return new WebAssembly.Module(bytes);
  };
  const worker = {location: {href: 'file:///engine.js'}};
  const quiet = {log() {}, warn() {}, error() {}};
  new Function('self', 'WorkerGlobalScope', 'XMLHttpRequest', 'WebAssembly', 'console', 'process', 'require', source)(
      worker, function() {}, Request, wasm, quiet, undefined, undefined);
  const port = {postMessage: (data) => queueMicrotask(() => engine.onRpcResponseBytes(data))};
  class Engine extends EngineBase {
    id = 'processor';
    mode = 'WASM';
    rpcSendRequestBytes(data) {
      port.onmessage({data});
    }
    [Symbol.dispose]() {}
  }
  const engine = new Engine();
  worker.onmessage({data: port});
  await new Promise((done) => setTimeout(done, 10));
  return engine;
}

// perfetto returns the rows of each query, as objects.
async function perfetto({file, queries}) {
  const engine = await processor();
  await engine.parse(new Uint8Array(fs.readFileSync(file)));
  await engine.notifyEof();
  const tables = [];
  for (const query of queries) {
    const result = await engine.query(query);
    const columns = result.columns();
    const any = Object.fromEntries(columns.map((c) => [c, null]));
    const rows = [];
    for (const row = result.iter(any); row.valid(); row.next()) {
      rows.push(Object.fromEntries(columns.map((c) => {
        const v = row.get(c);
        return [c, typeof v === 'bigint' ? Number(v) : v];
      })));
    }
    tables.push(rows);
  }
  return tables;
}

// firefox returns what the Firefox Profiler reads of each thread, and the profile's metadata as it prints them.
async function firefox({file}) {
  const cli = path.join(modules, '@firefox-devtools/profiler-cli/dist/profiler-cli.js');
  const env = {...process.env, PROFILER_CLI_SESSION_DIR: scratch, PROFILER_CLI_NO_SYMBOLICATE: '1'};
  const session = `s${++sessions}`;
  const run = (...args) => execFileSync(process.execPath, [cli, ...args, '--session', session],
      {env, encoding: 'utf8', maxBuffer: 1 << 28, stdio: 'pipe', timeout: limit, killSignal: 'SIGKILL'});
  const json = (...args) => JSON.parse(run(...args, '--json'));
  // Its own way to start the server waits half a second for it, which is not enough on a machine that has much to do.
  const server = spawn(process.execPath, [cli, '--daemon', file, '--session', session], {env, stdio: 'ignore'});
  const until = Date.now() + limit;
  // A client that finds no server behind the socket removes the socket, and no later client finds the server. So the
  // first client comes when something listens there.
  while (!await listens(path.join(scratch, `${session}.sock`))) {
    if (server.exitCode !== null || Date.now() > until) {
      server.kill('SIGKILL');
      throw new Error(`the server of profiler-cli ${server.exitCode === null ? 'does not listen after some minutes' : 'ended'}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  for (;;) {
    try {
      run('thread', 'list');
      break;
    } catch (e) {
      if (server.exitCode !== null || Date.now() > until) {
        server.kill('SIGKILL');
        throw e;
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  try {
    const threads = json('thread', 'list').threads.map(({threadHandle, name, processName}) => {
      const functions = json('thread', 'functions', '--thread', threadHandle, '--include-idle', '--limit', '100000').functions;
      const markers = json('thread', 'markers', '--thread', threadHandle, '--list', '--limit', '100000');
      return {name, process: processName, functions, markers};
    });
    return {threads, meta: run('profile', 'meta')};
  } finally {
    server.kill();
  }
}

// listens reports whether a server accepts connections on a socket.
function listens(socket) {
  return new Promise((done) => {
    const c = net.connect(socket, () => {
      c.destroy();
      done(true);
    });
    c.on('error', () => done(false));
  });
}

let sessions = 0;
let browser;

async function open(url, size = {width: 1400, height: 800}, dark = false) {
  if (!browser) {
    const {default: puppeteer} = await import(path.join(modules, 'puppeteer-core/lib/puppeteer/puppeteer-core.js'));
    browser = await puppeteer.launch({
      executablePath: chromium, headless: true, userDataDir: path.join(scratch, 'chromium'),
      timeout: limit, protocolTimeout: limit,
      // There is no GPU. Its emulation is only for the WebGL of speedscope: it takes thrice the time to draw all else.
      args: ['--no-sandbox', '--allow-file-access-from-files', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
        '--disable-gpu-compositing', '--disable-gpu-rasterization', '--disable-accelerated-2d-canvas'],
    });
  }
  const page = await browser.newPage();
  page.setDefaultTimeout(limit);
  await page.setViewport(size);
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]);
  const errors = [];
  const requests = [];
  page.on('pageerror', (e) => errors.push(e.message));
  page.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
  page.on('request', (r) => requests.push(r.url()));
  await page.goto(url);
  return {page, errors, requests};
}

// speedscope returns each profile's table of methods, as it is shown, and takes a picture of the first one's time line.
async function speedscope({file, as, picture}) {
  const script = path.join(scratch, 'profile.js');
  const content = fs.readFileSync(file).toString('base64');
  fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(as ?? path.basename(file))}, ${JSON.stringify(content)})`);
  const {page, errors} = await open(`file://${modules}/speedscope/dist/release/index.html#localProfilePath=${script}`);
  try {
    const loaded = () => document.body.innerText.includes('Left Heavy');
    await page.waitForFunction(loaded).catch((e) => {
      throw new Error(`speedscope shows ${errors.join('; ') || e.message}`);
    });
    if (picture) {
      await new Promise((done) => setTimeout(done, 500));
      await page.evaluate(paint);
      await page.screenshot({path: picture});
    }
    await page.keyboard.press('3');
    const profiles = [];
    for (let last = 0;;) {
      // The page follows a key some time later. The number in its title shows that it has.
      const {name, number, count, rows} = await untilStable(() => page.evaluate(() => {
        const title = document.body.innerText.split('\n')[1];
        const [, name, number = 1, count = 1] = /^(.*?)(?: \((\d+)\/(\d+)\))?$/.exec(title);
        return {name, number: +number, count: +count,
          rows: [...document.querySelectorAll('tr')].map((r) => [...r.querySelectorAll('td')].map((c) => c.innerText))
              .filter((c) => c.length === 3 && /%\)$/.test(c[0]))};
      }), (v) => v.rows.length > 0 && (!last || v.number === last + 1));
      profiles.push({name, rows});
      if (number === count) {
        return {profiles, errors};
      }
      last = number;
      await page.keyboard.press('n');
    }
  } finally {
    await page.close();
  }
}

// paint waits, in a page, until it has been painted some times.
const paint = async () => {
  for (let k = 0; k < 5; k++) {
    await new Promise((done) => requestAnimationFrame(done));
  }
};

// untilStable polls until it reads the same value twice, and the expected one.
async function untilStable(look, good) {
  let last = '';
  for (const until = Date.now() + limit; Date.now() < until;) {
    const value = await look();
    const now = JSON.stringify(value);
    if (now === last && good(value)) {
      return value;
    }
    last = now;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`what is shown is not what is waited for: ${last}`);
}

// page opens a file as a page in a window of a size, {width, height, hasTouch}, and in dark colours if dark is set. It
// waits for the expression wait, takes the steps, and returns the values of those that have one: each step is one of the
// keys of actions with its argument. hash is what stands behind # in the address.
async function page({file, wait, value, picture, steps, size, dark, hash}) {
  const {page, errors, requests} = await open(`file://${file}${hash ? '#' + hash : ''}`, size, dark);
  try {
    if (wait) {
      await page.waitForFunction(wait);
    }
    const result = value ? await page.evaluate(value) : null;
    const values = [];
    for (const step of steps ?? []) {
      const [[name, argument]] = Object.entries(step);
      const found = await actions[name](page, argument);
      if (found !== undefined) {
        values.push(found);
      }
    }
    if (picture) {
      await page.screenshot({path: picture});
    }
    return {value: result, values, errors, requests};
  } finally {
    await page.close();
  }
}

const at = async (page, place) => typeof place === 'string' ? await page.evaluate(place) : place;

// actions are what a step does: value is an expression whose value is returned, wait one that becomes true. A place is
// [x, y] in the window, or an expression for it.
const actions = {
  value: async (page, expression) => await page.evaluate(expression) ?? null,
  wait: async (page, expression) => void await page.waitForFunction(expression),
  // press presses a key, after those that stand before it: "Shift+C".
  press: async (page, name) => {
    const keys = name.length > 1 ? name.split('+') : [name];
    const key = keys.pop();
    for (const held of keys) {
      await page.keyboard.down(held);
    }
    await page.keyboard.press(key);
    for (const held of keys) {
      await page.keyboard.up(held);
    }
  },
  type: (page, text) => page.keyboard.type(text),
  move: async (page, place) => void await page.mouse.move(...await at(page, place)),
  click: async (page, place) => void await page.mouse.click(...await at(page, place)),
  wheel: (page, pixels) => page.mouse.wheel({deltaY: pixels}),
  drag: async (page, [[x, y], [toX, toY]]) => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(toX, toY, {steps: 5});
    await page.mouse.up();
  },
  tap: async (page, place) => void await page.touchscreen.tap(...await at(page, place)),
  // pinch moves two fingers from and to the places of two pairs.
  pinch: async (page, [from, to]) => {
    const points = (places) => places.map(([x, y], id) => ({x, y, id}));
    const session = await page.createCDPSession();
    for (const [type, places] of [['touchStart', from], ['touchMove', to], ['touchEnd', []]]) {
      await session.send('Input.dispatchTouchEvent', {type, touchPoints: points(places)});
    }
    await session.detach();
  },
  picture: async (page, path) => void await page.screenshot({path}),
};

const readers = {perfetto, firefox, speedscope, page};

for await (const line of readline.createInterface({input: process.stdin})) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = {result: await readers[request.reader](request)};
  } catch (e) {
    answer = {error: String(e.stack ?? e) + (e.stderr ?? '')};
  }
  await new Promise((done) => process.stdout.write(JSON.stringify(answer) + '\n', done));
}
await browser?.close();
fs.rmSync(scratch, {recursive: true, force: true});
