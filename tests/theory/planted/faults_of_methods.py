"""Planted faults of methods without local steps."""

from planting import fault, faults_of

METHOD_FAULTS = [
    *(
        fault(
            f"ef21p-diana: {what}",
            "solvers.methods.ef21p_diana",
            (old, new),
            on="ef21p-diana",
            compressor="two-way(rand-k:2;scaled(rand-k:2))",
        )
        for what, old, new in (
            (
                "the model itself compressed",
                "s.w + channel.downlink(s.x - s.w)",
                "channel.downlink(s.x)",
            ),
            (
                "what clients know does not accumulate",
                "s.w + channel.downlink(s.x - s.w)",
                "s.x + channel.downlink(s.x - s.w)",
            ),
            ("gradient at the old point", "problem.grad(w) - s.h", "problem.grad(s.w) - s.h"),
            ("nothing broadcast", "channel.downlink(s.x - s.w)", "(s.x - s.w)"),
            ("shifts without beta", "h=s.h + self.beta * m,", "h=s.h + m,"),
        )
    ),
    *faults_of(
        "gd",
        "gd",
        None,
        (
            "sum instead of mean",
            "mean(channel.send(problem.grad(s.x)))",
            "problem.n * mean(channel.send(problem.grad(s.x)))",
        ),
        ("step uphill", "s.x - self.gamma * gradient", "s.x + self.gamma * gradient"),
        ("gradients not sent", "mean(channel.send(problem.grad(s.x)))", "mean(problem.grad(s.x))"),
        (
            "model not broadcast",
            "State(channel.broadcast(s.x - self.gamma * gradient))",
            "State(s.x - self.gamma * gradient)",
        ),
    ),
    fault(
        "gd: the clients use a model that they are not told",
        "solvers.methods.gd",
        (
            "State(channel.broadcast(s.x - self.gamma * gradient))",
            "State(s.x - self.gamma * gradient + channel.broadcast(0 * s.x))",
        ),
        on="gd",
    ),
    *faults_of(
        "agd",
        "agd",
        None,
        ("momentum upside down", "(1 - self.q) / (1 + self.q)", "(1 + self.q) / (1 - self.q)"),
        (
            "gradient at x instead of y",
            "s.y - self.gamma * mean(channel.send(problem.grad(s.y)))",
            "s.y - self.gamma * mean(channel.send(problem.grad(s.x)))",
        ),
        (
            "momentum turned",
            "channel.broadcast(x + momentum * (x - s.x))",
            "channel.broadcast(x - momentum * (x - s.x))",
        ),
    ),
    *faults_of(
        "nesterov",
        "nesterov",
        None,
        ("momentum that does not grow", "3 / (2 * t + 3)", "3 / 3"),
        ("momentum that is negative", "3 / (2 * t + 3)", "(2 * t + 3) / 3"),
        ("momentum 1 - 1/(t + 2)", "3 / (2 * t + 3)", "1 / (2 * t + 3)"),
    ),
    *faults_of(
        "diana",
        "diana",
        "b",
        ("shift left out of the step", "(s.h_mean + m_mean)", "(m_mean)"),
        ("shifts without alpha", "h=s.h + self.alpha * m,", "h=s.h + m,"),
        ("stale mean shift", "h_mean=s.h_mean + self.alpha * m_mean", "h_mean=s.h_mean"),
        ("shift added to the gradient", "problem.grad(s.x) - s.h", "problem.grad(s.x) + s.h"),
        (
            "message past the channel",
            "m = channel.uplink(problem.grad(s.x) - s.h)",
            "m = problem.grad(s.x) - s.h",
        ),
        (
            "model not broadcast",
            "x=channel.broadcast(s.x - self.gamma * (s.h_mean + m_mean)),",
            "x=s.x - self.gamma * (s.h_mean + m_mean),",
        ),
        (
            "shifts of uncompressed differences",
            "h=s.h + self.alpha * m,",
            "h=s.h + self.alpha * (problem.grad(s.x) - s.h),",
        ),
        (
            "fixed point with shifts 0",
            "return State(problem.x_star, h, mean(h))",
            "return State(problem.x_star, 0 * h, 0 * mean(h))",
        ),
    ),
    *faults_of(
        "adiana",
        "adiana",
        "best",
        (
            "second message without the shift",
            "channel.uplink(s.gradient - s.h)",
            "channel.uplink(s.gradient)",
        ),
        ("shifts without alpha", "h=s.h + self.alpha * c,", "h=s.h + c,"),
        (
            "gradient at x instead of w",
            "problem.grad(w, active=moves)",
            "problem.grad(x, active=moves)",
        ),
        (
            "z forgets x",
            "z=self.beta * s.z + (1 - self.beta) * x - self.gamma * g",
            "z=s.z - self.gamma * g",
        ),
        (
            "weights that add up to 1 + theta_2",
            "(1 - self.theta_1 - self.theta_2) * s.y",
            "(1 - self.theta_1) * s.y",
        ),
    ),
    *faults_of(
        "ef21",
        "ef21",
        None,
        ("estimates do not accumulate", "State(x, s.g + c,", "State(x, c,"),
        ("gradient at the old point", "problem.grad(x) - s.g", "problem.grad(s.x) - s.g"),
        ("mean estimate twice", "s.g_mean + mean(c)", "s.g_mean + 2 * mean(c)"),
        ("error feedback turned", "problem.grad(x) - s.g", "problem.grad(x) + s.g"),
        ("first message sent whole", "g = channel.uplink", "g = channel.send"),
    ),
    *faults_of(
        "econtrol",
        "econtrol",
        None,
        ("error forgotten", "s.e + change - c)", "change - c)"),
        ("error not sent again", "self.b * s.e + change)", "change)"),
        ("first error turned", "e=gradient - h)", "e=gradient + h)"),
        ("estimates do not accumulate", "State(x, s.h + c,", "State(x, c,"),
        ("mean estimate twice", "s.h_mean + mean(c)", "s.h_mean + 2 * mean(c)"),
        ("error added twice", "self.b * s.e + change)", "s.e + change)"),
    ),
    *faults_of(
        "ef",
        "ef",
        None,
        ("error forgotten", "step - c)", "0 * step)"),
        ("error not sent again", "c = channel.uplink(step)", "c = channel.uplink(step - s.e)"),
        ("step without gamma", "s.e + self.gamma * problem.grad(s.x)", "s.e + problem.grad(s.x)"),
        ("model not broadcast", "channel.broadcast(s.x - mean(c))", "s.x - mean(c)"),
        ("whole step taken", "s.x - mean(c)", "s.x - mean(step)"),
    ),
    *faults_of(
        "compressed-gd",
        "compressed_gd",
        None,
        ("step uphill", "s.x - self.gamma * mean(c)", "s.x + self.gamma * mean(c)"),
        ("gradient past the channel", "channel.uplink(problem.grad(s.x))", "problem.grad(s.x)"),
        ("three times the step", "s.x - self.gamma * mean(c)", "s.x - 3 * self.gamma * mean(c)"),
    ),
    *faults_of(
        "marina",
        "marina",
        None,
        ("coin upside down", "where(full, anew, s.g + step)", "where(full, s.g + step, anew)"),
        (
            "stale gradient kept",
            "where(full, anew, s.g + step), gradient)",
            "where(full, anew, s.g + step), s.gradient)",
        ),
        (
            "differences do not accumulate",
            "where(full, anew, s.g + step)",
            "where(full, anew, step)",
        ),
        ("full vectors not sent", "mean(channel.send(gradient, mask=full))", "mean(gradient)"),
        (
            "full vectors in every round",
            "channel.send(gradient, mask=full)",
            "channel.send(gradient)",
        ),
    ),
    *faults_of(
        "dasha",
        "dasha",
        None,
        ("correction turned", "- self.a * (s.g - s.gradient)", "+ self.a * (s.g - s.gradient)"),
        ("mean estimate stale", "s.g_mean + mean(m)", "s.g_mean"),
        (
            "difference left out",
            "gradient - s.gradient - self.a * (s.g - s.gradient)",
            "-self.a * (s.g - s.gradient)",
        ),
    ),
]
