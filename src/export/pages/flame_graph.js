// SPDX-License-Identifier: Apache-2.0
// Zoom, search and hover of a flame graph. Frames are nested <svg> elements whose x and width are shares of the whole.
(function () {
    'use strict';
    const graph = document.getElementById('graph');
    const status = document.getElementById('status');
    const found = document.getElementById('found');
    const word = document.getElementById('word');
    const back = document.getElementById('back');
    const plain = status.textContent;
    const frames = Array.from(graph.children, node => ({
        node,
        x: parseFloat(node.getAttribute('x')),
        width: parseFloat(node.getAttribute('width')),
        y: parseFloat(node.getAttribute('y')),
        text: node.firstElementChild.textContent,
    }));
    const of = new Map(frames.map(f => [f.node, f]));
    const whole = frames[0];
    const SLACK = 1e-5; // of the digits that the file has
    let zoomed = whole;

    function zoom(to) {
        zoomed = to;
        for (const f of frames) {
            const x = (f.x - to.x) / to.width * 100, end = (f.x + f.width - to.x) / to.width * 100;
            const inside = end > SLACK && x < 100 - SLACK;
            f.node.style.display = inside ? '' : 'none';
            if (!inside)
                continue;
            const from = Math.max(x, 0);
            f.node.setAttribute('x', from + '%');
            f.node.setAttribute('width', Math.min(end, 100) - from + '%');
            f.node.classList.toggle('around', f !== to && f.y > to.y);
        }
        back.style.display = to === whole ? 'none' : '';
    }

    // How much of the whole lies in matching frames; one inside another counts once.
    function search() {
        const wanted = word.value.trim().toLowerCase();
        const hits = frames.filter(f => f !== whole && wanted && f.text.split('\n')[0].toLowerCase().includes(wanted));
        for (const f of frames)
            f.node.classList.remove('hit');
        for (const f of hits)
            f.node.classList.add('hit');
        graph.classList.toggle('searched', Boolean(wanted));
        let share = 0, covered = 0;
        for (const f of hits.sort((a, b) => a.x - b.x || b.width - a.width)) {
            share += Math.max(0, f.x + f.width - Math.max(f.x, covered));
            covered = Math.max(covered, f.x + f.width);
        }
        found.textContent = wanted ? `${hits.length} frames, ${share.toFixed(1)} %` : '';
    }

    const frame_at = e => of.get(e.target.closest('#graph > svg'));
    graph.addEventListener('click', e => frame_at(e) && zoom(frame_at(e)));
    graph.addEventListener('mouseover', e => { status.textContent = frame_at(e) ? frame_at(e).text.replace(/\n/g, ' · ') : plain; });
    graph.addEventListener('mouseleave', () => { status.textContent = plain; });
    back.addEventListener('click', () => zoom(whole));
    word.addEventListener('input', search);
    window.addEventListener('keydown', e => {
        if (e.key === '/' && document.activeElement !== word) {
            word.focus();
            e.preventDefault();
        } else if (e.key === 'Escape') {
            word.value = '';
            word.blur();
            search();
            zoom(whole);
        }
    });
    document.documentElement.classList.add('alive');
    zoom(whole);
})();
